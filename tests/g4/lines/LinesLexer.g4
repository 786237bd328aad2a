// The tokens of LinesParser.g4.
lexer grammar LinesLexer;

OPEN
    : '{'
    ;

CLOSE
    : '}'
    ;

SEMICOLON
    : ';'
    ;

NAME
    : [a-z]+
    ;

BLANK
    : [ \t]+ -> channel(HIDDEN)
    ;
