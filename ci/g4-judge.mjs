// Parses inputs with ANTLR's own interpreters: the lexer and parser run the automata that the tool made of a grammar.
// Actions are not run, predicates hold.
//
// Usage: node g4-judge.mjs MODULES LEXER.interp PARSER.interp START SECONDS DIRECTORY
//
// Prints a line of JSON after each file: how many files were parsed, how many without an error up to their end, how many took
// the interpreters too long, and the first errors. Some texts take them forever, so a thread of its own parses, and is ended
// and begun again behind such a text.

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { Worker, isMainThread, parentPort, workerData } from "node:worker_threads";

// A text that takes longer is passed over.
const SLOW = 4000;

const [modules, lexerFile, parserFile, start, seconds, directory] = process.argv.slice(2);
const files = readdirSync(directory).sort();

function watch() {
    const end = Date.now() + Number(seconds) * 1000;
    const result = { parsed: 0, accepted: 0, slow: 0, errors: [] };
    let next = 0;
    const begin = () => {
        const worker = new Worker(fileURLToPath(import.meta.url), { argv: process.argv.slice(2), workerData: next });
        let timer = null;
        const wait = (limit) => {
            clearTimeout(timer);
            timer = setTimeout(async () => {
                await worker.terminate();
                result.slow += 1;
                next += 1;
                console.log(JSON.stringify(result));
                if (next < files.length && Date.now() < end) begin();
            }, limit);
        };
        // The first file waits for the interpreters to be made.
        wait(2 * SLOW);
        worker.on("message", (error) => {
            result.parsed += 1;
            if (error === null) result.accepted += 1;
            else if (result.errors.length < 5) result.errors.push(`${files[next]}: ${error.slice(0, 200)}`);
            console.log(JSON.stringify(result));
            next += 1;
            if (next < files.length && Date.now() < end) return wait(SLOW);
            clearTimeout(timer);
            worker.terminate();
        });
    };
    if (files.length) begin();
}

if (isMainThread) watch();
else await parse();

async function parse() {
    const antlr = await import(pathToFileURL(join(modules, "antlr4ng/dist/index.mjs")));

    // Declared channels leave empty lines in the list of their names, which the reader takes for its end.
    const repaired = (text) =>
        text.replace(/channel names:\n([^]*?)\nmode names:/, (_, names) =>
            `channel names:\n${names.split("\n").map((name) => name || "unnamed").join("\n")}\n\nmode names:`);
    const data = (file) => antlr.InterpreterDataReader.parseInterpreterData(repaired(readFileSync(file, "utf8")));
    const lexerData = data(lexerFile);
    const parserData = data(parserFile);
    const rule = parserData.ruleNames.indexOf(start);
    if (rule < 0) {
        console.error(`no rule ${start}`);
        process.exit(1);
    }

    class FirstError extends antlr.BaseErrorListener {
        message = null;
        syntaxError(recognizer, symbol, line, column, message) {
            this.message ??= `${line}:${column} ${message}`;
        }
    }

    const lexer = new antlr.LexerInterpreter(
        lexerFile, lexerData.vocabulary, lexerData.ruleNames, lexerData.channels, lexerData.modes, lexerData.atn,
        antlr.CharStream.fromString(""));
    const parser = new antlr.ParserInterpreter(
        parserFile, parserData.vocabulary, parserData.ruleNames, parserData.atn, new antlr.CommonTokenStream(lexer));

    function firstError(text) {
        const listener = new FirstError();
        try {
            lexer.inputStream = antlr.CharStream.fromString(text);
            lexer.removeErrorListeners();
            lexer.addErrorListener(listener);
            const tokens = new antlr.CommonTokenStream(lexer);
            parser.tokenStream = tokens;
            parser.removeErrorListeners();
            parser.addErrorListener(listener);
            parser.parse(rule);
            if (listener.message === null && tokens.LA(1) !== antlr.Token.EOF) {
                return `stopped before the end, at ${tokens.LT(1).text}`;
            }
            return listener.message;
        } catch (error) {
            return `${error}`.split("\n")[0];
        }
    }

    // The first parse of an interpreter sees the text that it was made with.
    firstError("");

    for (const file of files.slice(workerData)) {
        parentPort.postMessage(firstError(readFileSync(join(directory, file), "utf8")));
    }
}
