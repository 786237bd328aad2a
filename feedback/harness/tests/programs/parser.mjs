// A parser of arithmetic, as a package might have it.
class Parser {
    constructor(text) {
        this.text = text;
        this.at = 0;
    }

    peek() {
        while (this.text[this.at] === ' ') this.at++;
        return this.text[this.at];
    }

    sum() {
        let value = this.product();
        for (;;) {
            const sign = this.peek();
            if (sign !== '+' && sign !== '-') return value;
            this.at++;
            const next = this.product();
            value = sign === '+' ? value + next : value - next;
        }
    }

    product() {
        let value = this.atom();
        while (this.peek() === '*') {
            this.at++;
            value *= this.atom();
        }
        return value;
    }

    atom() {
        if (this.peek() === '(') {
            this.at++;
            const value = this.sum();
            if (this.peek() !== ')') throw new SyntaxError(`no ) at ${this.at}`);
            this.at++;
            return value;
        }
        const [digits] = this.text.slice(this.at).match(/^[0-9]*/);
        if (!digits) throw new SyntaxError(`no number at ${this.at}`);
        this.at += digits.length;
        return Number(digits);
    }
}

export function parse(text) {
    return new Parser(text).sum();
}

export default (text) => parse(text);
