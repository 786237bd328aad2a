// Calls a function of Node on inputs and counts what it executes.
//
// Arguments: file or package, function, "text" or "bytes", "executed", "nothing" or "samples" (see `Counting` in
// src/languages/subject.rs), "words", "expressions" or "nothing" (what it tells). The harness says the length of an
// input that it has put into shared memory; see src/languages/protocol.rs for the rest. `constants` and `expressions`
// are of the files of these names, which precede this one.
//
// Counters are put into the sources of modules when they are loaded. V8 has block coverage of its own, but a look at it
// takes half a millisecond and more, as V8 goes through all functions that there are, and blocks that have one count
// are joined in what it says.
((require) => (async () => {
    'use strict';
    const INPUT = 195, COUNTERS = 196, REQUESTS = 198, ANSWERS = 199;
    const RETURNED = 0, EXITED = 1, RAISED = 2;
    const CAPACITY = 1 << 20;

    const fs = require('fs');
    const path = require('path');
    const Module = require('module');
    const { Worker } = require('worker_threads');
    const { fileURLToPath, pathToFileURL } = require('url');
    let acorn;
    try {
        acorn = require('internal/deps/acorn/acorn/dist/acorn');
    } catch {
        // Another version of Node: nothing is counted.
    }
    for (const name of ['require', 'module', 'exports', '__filename', '__dirname']) delete globalThis[name];
    const [file, functionName, kind, counting, telling] = process.argv.slice(1);
    process.argv.splice(1, Infinity, file);
    process.execArgv = [];
    delete process._eval;
    const { readSync, writeSync } = fs;
    const { stdout, stderr } = process;
    const really = process.reallyExit.bind(process);
    const resources = process.getActiveResourcesInfo.bind(process);
    const cpuUsage = process.cpuUsage.bind(process);
    const immediate = setImmediate, timeout = setTimeout;

    function answer(letter, ...parts) {
        const body = Buffer.concat(parts);
        const head = Buffer.alloc(5);
        head.write(letter);
        head.writeUInt32LE(body.length, 1);
        writeAll(Buffer.concat([head, body]));
    }
    function writeAll(bytes) {
        for (let written = 0; written < bytes.length;) written += writeSync(ANSWERS, bytes, written);
    }
    function words(...values) {
        return Buffer.from(Uint32Array.from(values).buffer);
    }
    function text(...values) {
        const short = (value) => Buffer.from(String(value).replaceAll('\0', '?')).subarray(0, 900);
        return Buffer.concat(values.flatMap((value, at) => at ? [Buffer.of(0), short(value)] : [short(value)]));
    }
    function refuse(message) {
        answer('X', Buffer.from(message).subarray(0, 3000));
        really(0);
    }

    // A source with counters where a function, a branch or the body of a loop begins, and where it goes on after what
    // may leave it.
    //
    // Whole numbers stay exact up to 2^53 in these, and engines count in them about as fast as in integers of 32 bits.
    const counters = new Float64Array(new SharedArrayBuffer(8 * CAPACITY));
    Object.defineProperty(globalThis, '__gramjet', { value: counters });
    let counterCount = 1;
    const gathered = { words: constants, expressions }[telling]?.();
    function counted(source, name) {
        const tree = program(source);
        gathered?.next();
        const starts = [], ends = [];
        const insert = (offset, added) => starts.push({ offset, added });
        const counter = (node, owner) => {
            const number = counterCount < CAPACITY ? counterCount++ : 0;
            if (number) places.push({ number, offset: node.start, owner });
            return `__gramjet[${number}]++`;
        };
        const around = (node, before, after) => {
            insert(node.start, before);
            ends.push({ offset: node.end, added: after });
        };
        const places = [];
        const expression = (node, owner) => around(node, `(${counter(node, owner)},`, ')');
        const statement = (node, owner) => {
            if (node.type !== 'BlockStatement') return around(node, `{${counter(node, owner)};`, '}');
            // Directives come first in a function.
            const first = node.body.find((child) => !child.directive);
            const offset = first && node.body[0].directive ? first.start : node.body.length && !first ? node.end - 1 : node.start + 1;
            insert(offset, `;${counter(node, owner)};`);
        };
        const open = [[tree, undefined, '(file)']];
        while (open.length) {
            const [node, parent, owner] = open.pop();
            gathered?.lookAt(node);
            let inner = owner;
            switch (node.type) {
            case 'FunctionDeclaration': case 'FunctionExpression': case 'ArrowFunctionExpression':
                inner = nameOf(source, node, parent);
                (node.expression ? expression : statement)(node.body, inner);
                break;
            case 'IfStatement':
                statement(node.consequent, owner);
                if (node.alternate) statement(node.alternate, owner);
                break;
            case 'ConditionalExpression':
                expression(node.consequent, owner);
                expression(node.alternate, owner);
                break;
            case 'LogicalExpression': expression(node.right, owner); break;
            case 'ForStatement': case 'ForInStatement': case 'ForOfStatement': case 'WhileStatement': case 'DoWhileStatement':
            case 'CatchClause':
                statement(node.body, owner);
                break;
            case 'SwitchCase':
                if (node.consequent.length) insert(node.consequent[0].start, `${counter(node, owner)};`);
                break;
            case 'TryStatement': if (node.finalizer) statement(node.finalizer, owner); break;
            }
            const list = node.type === 'SwitchCase' ? node.consequent : node.body;
            if (Array.isArray(list)) {
                list.forEach((child, at) => {
                    if (at && leaves(list[at - 1])) insert(child.start, `;${counter(child, owner)};`);
                });
            }
            for (const child of children(node)) open.push([child, node, inner]);
        }
        announce(source, name, places);
        state[USED] = counterCount;
        // At one place what ends comes before what starts, the inner end before the outer, the outer start before the
        // inner.
        const all = [...ends.reverse(), ...starts].sort((one, next) => one.offset - next.offset);
        let result = '', from = 0;
        for (const { offset, added } of all) {
            result += source.slice(from, offset) + added;
            from = offset;
        }
        return result + source.slice(from);
    }
    function nameOf(source, node, parent) {
        if (node.id) return node.id.name;
        const named = { Property: 'key', MethodDefinition: 'key', PropertyDefinition: 'key',
            VariableDeclarator: 'id', AssignmentExpression: 'left' }[parent?.type];
        if (!named || parent[named] === node) return '(anonymous)';
        return source.slice(parent[named].start, parent[named].end).slice(0, 100);
    }
    function children(node) {
        return Object.values(node).flat().filter((child) => child && typeof child.type === 'string');
    }
    // Whether what follows a statement may be executed less often than it. Functions in it are their own affair.
    function leaves(node) {
        if (/^(Return|Throw|Break|Continue)Statement$/.test(node.type)) return true;
        if (/^(If|For|ForIn|ForOf|While|DoWhile|Switch|Labeled|Block|With)Statement$/.test(node.type)) {
            return children(node).some(leaves);
        }
        return node.type === 'TryStatement' || node.type === 'SwitchCase' && node.consequent.some(leaves);
    }
    function program(source) {
        const options = { ecmaVersion: 'latest', allowHashBang: true, allowReturnOutsideFunction: true,
            allowAwaitOutsideFunction: true, allowSuperOutsideMethod: true };
        try {
            return acorn.parse(source, { ...options, sourceType: 'script' });
        } catch {
            return acorn.parse(source, { ...options, sourceType: 'module' });
        }
    }
    // Says which counter is where.
    function announce(source, name, places) {
        places.sort((one, next) => one.offset - next.offset);
        const said = [];
        const marks = new Map();
        let line = 1, from = 0;
        for (const { number, offset, owner } of places) {
            for (let next; (next = source.indexOf('\n', from)) >= 0 && next < offset; from = next + 1) line++;
            // Several may be at one place.
            marks.set(offset, (marks.get(offset) ?? 0) + 1);
            const body = Buffer.concat([words(number, line), text(name, owner, `${offset} ${marks.get(offset)}`)]);
            said.push(Buffer.from('E'), words(body.length), body);
        }
        writeAll(Buffer.concat(said));
    }
    // What cannot be parsed is loaded as it is.
    function countedOr(source, name) {
        try {
            return counted(source, name);
        } catch {
            return source;
        }
    }
    function countModules() {
        if (!acorn) return;
        const compile = Module.prototype._compile;
        Module.prototype._compile = function (source, name, ...others) {
            return compile.call(this, typeof source === 'string' ? countedOr(source, name) : source, name, ...others);
        };
        const ofModule = (url, source) => {
            return url.startsWith('file://') ? countedOr(Buffer.from(source).toString(), fileURLToPath(url)) : source;
        };
        if (Module.registerHooks) {
            Module.registerHooks({
                load(url, context, next) {
                    const loaded = next(url, context);
                    return loaded.format === 'module' ? { ...loaded, source: ofModule(url, loaded.source) } : loaded;
                },
            });
            return;
        }
        const { translators } = require('internal/modules/esm/translators');
        const translate = translators.get('module');
        translators.set('module', function (url, source, ...others) {
            return translate.call(this, url, ofModule(url, source), ...others);
        });
    }
    // A run that is stopped cannot say its counts, so a thread says those of runs that take long. Its states: no run, a
    // run, a run whose counts are being written.
    const IDLE = 0, RUNNING = 1, WRITING = 2;
    const state = new Int32Array(new SharedArrayBuffer(12));
    const RUN = 1, USED = 2;
    function watch() {
        const watcher = `
            const { writeSync } = require('fs');
            const { state, counters, descriptor } = require('worker_threads').workerData;
            const clock = new Int32Array(new SharedArrayBuffer(4));
            for (let last = 0; ; last = Atomics.load(state, ${RUN})) {
                Atomics.wait(clock, 0, 0, 50);
                if (Atomics.load(state, ${RUN}) !== last) continue;
                if (Atomics.compareExchange(state, 0, ${RUNNING}, ${WRITING}) !== ${RUNNING}) continue;
                writeSync(descriptor, counters, 0, 8 * Atomics.load(state, ${USED}), 0);
                Atomics.store(state, 0, ${RUNNING});
                Atomics.notify(state, 0);
            }`;
        const thread = new Worker(watcher, { eval: true, execArgv: [], workerData: { state, counters, descriptor: COUNTERS } });
        return new Promise((done) => thread.once('online', () => done(thread.unref())));
    }
    function begin() {
        state[RUN]++;
        state[USED] = counterCount;
        Atomics.store(state, 0, RUNNING);
    }
    function take() {
        while (Atomics.compareExchange(state, 0, RUNNING, IDLE) !== RUNNING) Atomics.wait(state, 0, WRITING);
        const used = counters.subarray(0, counterCount);
        writeSync(COUNTERS, used, 0, used.byteLength, 0);
        used.fill(0);
    }

    // Microseconds by the function of the subject's own code that runs, or that calls what runs. Of a regular
    // expression, the pattern is known as well.
    function sampler() {
        const { Session } = require('inspector');
        const session = new Session();
        session.connect();
        session.post('Profiler.enable');
        session.post('Profiler.setSamplingInterval', { interval: 1000 });
        const numbers = new Map();
        const isOwn = (node) => node?.callFrame.url.startsWith('file://');
        const numberOf = (owner, node) => {
            const { url, lineNumber, functionName } = owner.callFrame;
            const ticks = node === owner ? owner.positionTicks ?? [] : [];
            const most = ticks.reduce((best, tick) => tick.ticks > best.ticks ? tick : best, { ticks: 0, line: lineNumber + 1 });
            const pattern = /^RegExp: ?/.test(node.callFrame.functionName) ? `, ${node.callFrame.functionName}` : '';
            const name = `${functionName || '(anonymous)'}${pattern}`;
            const key = `${url} ${most.line} ${name}`;
            if (!numbers.has(key) && counterCount < CAPACITY) {
                numbers.set(key, counterCount++);
                const body = Buffer.concat([words(numbers.get(key), most.line),
                    text(fileURLToPath(url), name, `sample ${most.line} ${numbers.size}`)]);
                writeAll(Buffer.concat([Buffer.from('E'), words(body.length), body]));
            }
            return numbers.get(key) ?? 0;
        };
        const count = (_, { profile }) => {
            const nodes = new Map(profile.nodes.map((node) => [node.id, node]));
            const callers = new Map();
            for (const node of profile.nodes) for (const child of node.children ?? []) callers.set(child, node);
            profile.samples.forEach((id, at) => {
                const node = nodes.get(id);
                let owner = node;
                while (owner && !isOwn(owner)) owner = callers.get(owner.id);
                // A sample stands for the time until the next one.
                if (owner) counters[numberOf(owner, node)] += Math.max(profile.timeDeltas[at + 1] ?? 0, 0);
            });
        };
        return { start: () => session.post('Profiler.start'), stop: () => session.post('Profiler.stop', count) };
    }

    async function load() {
        const itself = Module.createRequire(path.join(process.cwd(), 'here'));
        let place = path.resolve(file);
        if (!fs.existsSync(place)) {
            try {
                place = itself.resolve(file);
            } catch {
                refuse(`there is no file ${place}, and no package \`${file}\``);
            }
        }
        let module;
        try {
            try {
                module = itself(place);
            } catch (error) {
                if (error?.code !== 'ERR_REQUIRE_ESM' && error?.code !== 'ERR_REQUIRE_ASYNC_MODULE') throw error;
                module = await import(pathToFileURL(place));
            }
        } catch (error) {
            refuse(`${file} failed when it was loaded: ${classOf(error)}: ${error?.message ?? error}`);
        }
        for (const value of [module, module?.default]) {
            let holder, found = value;
            for (const part of functionName.split('.')) [holder, found] = [found, found?.[part]];
            if (functionName === 'default' && found === undefined) found = value;
            if (typeof found === 'function') return (input) => found.call(holder, input);
        }
        refuse(`${file} has no function \`${functionName}\``);
    }

    function classOf(error) {
        try {
            return error instanceof Error ? error.constructor.name || error.name : typeof error;
        } catch {
            return 'object';
        }
    }
    // The classes that it descends from, the nearest first.
    function parentsOf(error) {
        const names = [];
        try {
            let prototype = Object.getPrototypeOf(error);
            for (let round = 0; round < 32; round++) {
                prototype = Object.getPrototypeOf(prototype);
                if (prototype === null || prototype === Object.prototype) break;
                names.push(prototype.constructor?.name ?? '');
            }
        } catch {
            // Not an object.
        }
        return names;
    }
    // The innermost frame of the subject's own code.
    function frameOf(error) {
        try {
            for (const [, called, where, line] of error.stack.matchAll(/^ +at (?:(.*) \()?(.*?):(\d+):\d+\)?$/gm)) {
                const name = where.replace(/^async /, '');
                if (name.startsWith('/') || name.startsWith('file://')) {
                    const place = name.startsWith('/') ? name : fileURLToPath(name);
                    return `${place}:${line} (${(called ?? '(anonymous)').replace(/^async /, '')})`;
                }
            }
        } catch {
            // Not an error, or one of its own kind.
        }
        return '';
    }

    // What has happened in a run: its exit status, or what was thrown.
    let exited, thrown;
    const fail = (error) => { thrown ??= { error }; };
    const turn = (wait) => new Promise((done) => { wait ? timeout(done, 1) : immediate(done); });
    class Exit {}
    process.exit = (status) => {
        exited ??= Number(status ?? process.exitCode ?? 0) & 255;
        throw new Exit();
    };
    process.on('uncaughtException', fail);

    async function run(called, input) {
        let isSettled = true;
        try {
            const result = called(input);
            if (typeof result?.then === 'function') {
                isSettled = false;
                result.then(() => { isSettled = true; }, (error) => { isSettled = true; fail(error); });
            }
        } catch (error) {
            fail(error);
        }
        // As a program goes on until there is nothing left to wait for.
        let rounds = 0;
        do await turn(rounds++ > 20);
        while (exited === undefined && thrown === undefined && resources().length > idle);
        if (!isSettled && thrown === undefined) exited ??= 13;
    }
    // Of an exception also its class, its frame, and the classes that it descends from.
    function say(ended, status, cpu, isSpent, ...raised) {
        const head = Buffer.alloc(22);
        head[0] = ended;
        head[1] = isSpent;
        head.writeInt32LE(status, 2);
        head.writeBigUInt64LE(BigInt(cpu.user), 6);
        head.writeBigUInt64LE(BigInt(cpu.system), 14);
        answer('D', head, text(...raised));
    }

    if (counting === 'executed') countModules();
    const called = await load();
    await turn();
    await watch();
    await turn();
    const idle = resources().length;
    const samples = counting === 'samples' ? sampler() : undefined;
    // What was executed to load the function is no part of its first run.
    counters.fill(0);
    gathered?.tell(answer);
    answer('R');
    const request = Buffer.alloc(4);
    for (;;) {
        if (readSync(REQUESTS, request) !== 4) really(0);
        const data = Buffer.alloc(request.readUInt32LE());
        readSync(INPUT, data, 0, data.length, 0);
        const input = kind === 'text' ? data.toString('utf8') : data;
        const before = cpuUsage();
        exited = thrown = process.exitCode = undefined;
        begin();
        samples?.start();
        await run(called, input);
        const isSpent = resources().length > idle;
        const cpu = cpuUsage(before);
        samples?.stop();
        take();
        if (exited !== undefined) {
            say(EXITED, exited, cpu, isSpent);
        } else if (thrown) {
            const { error } = thrown, name = classOf(error);
            try {
                stderr.write(`${name}: ${String(error?.message ?? error).slice(0, 1000)}\n`);
            } catch {
                // It says nothing.
            }
            say(RAISED, 0, cpu, isSpent, name, frameOf(error), ...parentsOf(error));
        } else {
            say(RETURNED, Number(process.exitCode ?? 0) & 255, cpu, isSpent);
        }
    }
})())(require);
