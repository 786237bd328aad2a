// Does what its input asks for: the first letter says what.
'use strict';

class Unusual extends Error {}

function deep(n) {
    return deep(n + 1) + 1;
}

function raise() {
    throw new Unusual('not usual');
}

exports.run = function run(data) {
    const what = String.fromCharCode(data[0]);
    switch (what) {
    case 'u': return raise();
    case 'v': throw 'a text';
    case 'j': return JSON.parse('[1,');
    case 'e': return process.exit(Number(data.toString().slice(1)));
    case 'E': process.exitCode = 4; return;
    case 'x': return process.reallyExit(5);
    case 'a': return process.abort();
    case 'l': for (;;);
    case 'L': for (let i = 0; ; i++) if (i < 0) return;
    case 'r': return deep(0);
    case 'm': for (const kept = []; ;) kept.push(new Array(1 << 16).fill(kept.length + 0.5));
    case 'B': for (const kept = []; ;) kept.push(Buffer.alloc(1 << 24, 'x'));
    case 'd': return new Promise((done) => setTimeout(done, 20)).then(raise);
    case 'D': setTimeout(raise, 5); return;
    case 'R': Promise.reject(new Unusual('rejected')); return;
    case 'n': return new Promise(() => {});
    case 't': setTimeout(() => console.log('from a timer'), 5); return;
    case 'T': setInterval(() => {}, 1000); return;
    case 'W': setInterval(() => {}, 1000); return process.exit(0);
    case 'p': console.log('a text'); console.error('an error'); return;
    case 'P': for (let i = 0; i < 10000; i++) console.log('x'.repeat(999)); return;
    case 'Q': for (;;) console.log('x'.repeat(999));
    case 'k': process.kill(process.pid, 'SIGSEGV'); for (;;);
    case 'F': require('child_process').spawn('sleep', ['1000'], { detached: true, stdio: 'ignore' }).unref(); return;
    case 'i': return require('fs').readFileSync(0);
    case 'w': require('fs').writeFileSync(process.env.OUTSIDE, ''); return;
    case '!': return count(data);
    }
};

function count(data) {
    let total = 0;
    for (const byte of data) {
        if (byte === 97) {
            total += 1;
        } else if (byte === 98) total -= 1;
        const sign = byte > 98
            ? 1
            : -1;
        if (sign > 0 &&
            byte === 99) continue;
        total += 2;
    }
    return total;
}
exports.count = count;
exports.number = 3;
exports.inner = { text(value) { if (typeof value !== 'string') throw new TypeError(typeof value); } };

// A loop, after which all has been executed 2^32 - 1 times more.
exports.often = function often(data) {
    for (let number = 1; number < 100; number++) globalThis.__gramjet[number] += 2 ** 32 - 1;
    return count(data);
};
