// Finds the constants that JavaScript compares, as words that inputs may need. It precedes worker.js in one block.
//
// Those of comparisons come first, then arguments of methods that compare, keys, and last the values of names.
const constants = () => {
    const MOST = 512, SHORTEST = 2, LONGEST = 32, BLANKS = 3, KNOWN = 1 << 14;
    const COMPARED = 0, GIVEN = 1, KEYS = 2, NAMED = 3;
    const METHODS = new Set(['startsWith', 'endsWith', 'includes', 'indexOf', 'lastIndexOf', 'has', 'get', 'split',
        'hasOwnProperty', 'hasOwn']);
    // The order of sources, and of places in them.
    const found = [new Map(), new Map(), new Map(), new Map()];
    let sources = 0;
    const add = (rank, node) => {
        const isText = node?.type === 'Literal' && typeof node.value === 'string';
        const value = isText ? node.value : node?.type === 'TemplateLiteral' && node.quasis.length === 1
            ? node.quasis[0].value.cooked : undefined;
        if (typeof value === 'string') put(rank, value, node.start);
    };
    const put = (rank, value, start) => {
        const word = Buffer.from(value);
        const isMessage = value.split(' ').length - 1 > BLANKS || /[\r\n]/.test(value) || value === 'use strict';
        if (word.length < SHORTEST || word.length > LONGEST || isMessage) return;
        const known = found[rank].get(value);
        const place = sources * 2 ** 32 + start;
        if (known ? place < known.place : found[rank].size < KNOWN) found[rank].set(value, { place, word });
    };
    const addAll = (rank, node) => {
        (node?.type === 'ArrayExpression' ? node.elements : [node]).forEach((inner) => add(rank, inner));
    };
    return {
        // Says that the nodes of another source follow.
        next() {
            sources++;
        },
        lookAt(node) {
            switch (node.type) {
            case 'BinaryExpression':
                if (/^[!=]==?$|^in$/.test(node.operator)) [node.left, node.right].forEach((side) => add(COMPARED, side));
                break;
            case 'SwitchCase': add(COMPARED, node.test); break;
            case 'CallExpression': case 'OptionalCallExpression': {
                const { callee, arguments: [first, second] } = node;
                if (callee.type !== 'MemberExpression' || callee.computed) break;
                const name = callee.property.name;
                if (METHODS.has(name)) add(GIVEN, name === 'hasOwn' ? second : first);
                if (METHODS.has(name)) addAll(KEYS, callee.object);
                break;
            }
            case 'MemberExpression':
                if (node.computed) add(KEYS, node.property);
                break;
            case 'NewExpression':
                // Sets, and maps by their entries.
                for (const inner of node.arguments[0]?.elements ?? []) {
                    add(KEYS, inner?.type === 'ArrayExpression' ? inner.elements[0] : inner);
                }
                break;
            case 'Property':
                if (node.key.type === 'Identifier' && !node.computed) put(KEYS, node.key.name, node.start);
                else add(KEYS, node.key);
                addAll(NAMED, node.value);
                break;
            case 'VariableDeclarator': addAll(NAMED, node.init); break;
            case 'AssignmentExpression': addAll(NAMED, node.right); break;
            case 'PropertyDefinition': addAll(NAMED, node.value); break;
            }
        },
        tell(answer) {
            const ranked = found.flatMap((ofRank) => [...ofRank.values()].sort((one, next) => one.place - next.place));
            const known = new Set(), words = [];
            for (const { word } of ranked) {
                const text = word.toString('latin1');
                if (words.length < MOST && !known.has(text)) words.push(word);
                known.add(text);
            }
            answer('W', ...words.flatMap((word) => [Buffer.of(word.length), word]));
        },
    };
};
