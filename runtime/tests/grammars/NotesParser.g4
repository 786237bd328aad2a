parser grammar NotesParser;

options {
    tokenVocab = NotesLexer;
}

notes: TEXT tag+ EOF;
tag: OPEN NAME NAME CLOSE;
