// The tokens of NestedParser.g4: an action of the lexer leaves the mode of what braces hold.
lexer grammar NestedLexer;

options {
    superClass = LexerAdaptor;
}

tokens {
    TEXT
}

OPEN
    : '{' -> pushMode(Inner)
    ;

NAME
    : [a-z]+
    ;

BLANK
    : [ \t]+ -> skip
    ;

mode Inner;

INNER_OPEN
    : '{' -> type(TEXT), pushMode(Inner)
    ;

CLOSE
    : '}' { this.handleEndAction(); }
    ;

INNER_TEXT
    : ~[{}] -> type(TEXT)
    ;
