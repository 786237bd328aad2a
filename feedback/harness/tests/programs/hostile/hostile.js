// Does harm: the first word of the input says how. What this language can do itself is here, the rest is in hostile.c.
'use strict';
const fs = require('fs');
const { spawn } = require('child_process');
const { Worker } = require('worker_threads');

const library = { exports: {} };
process.dlopen(library, process.env.HOSTILE_LIBRARY);

class Finding extends Error {}

const own = {
    benign(much) {
        let total = 0;
        for (let number = 0; number < much; number++) total += number % 3 ? number : 2;
        fs.writeSync(1, `benign ${much}\n`);
    },
    finding() { throw new Finding('found'); },
    language_process() { spawn('sleep', ['1000'], { detached: true, stdio: 'ignore' }).unref(); },
    language_threads() {
        for (let number = 0; number < 3; number++) new Worker('setInterval(() => {}, 1000)', { eval: true }).unref();
    },
    language_signals() { for (const name of ['SIGTERM', 'SIGINT', 'SIGHUP', 'SIGUSR2']) process.on(name, () => {}); },
    language_files() {
        try { fs.writeFileSync(`${process.env.HOSTILE_OUTSIDE}/new`, 'x'); } catch { return; }
        process.reallyExit(77);
    },
    language_descriptors() {
        for (let number = 3; number < 1000; number++) try { fs.closeSync(number); } catch { }
    },
    language_exit() { setImmediate(() => process.reallyExit(5)); return new Promise(() => {}); },
};

exports.run = function run(data) {
    const text = data.toString();
    const [name, much] = text.split(' ');
    if (Object.hasOwn(own, name)) return own[name](Number(much || 0));
    library.exports(text);
};
