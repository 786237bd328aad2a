// Keys, values and comments: a combined grammar without code.
grammar Pairs;

pairs
    : (pair ';')* EOF
    ;

pair
    : NAME '=' (NUMBER | STRING | '{' pairs_ '}')
    ;

pairs_
    : (pair ';')*
    ;

NAME
    : [a-z]+
    ;

NUMBER
    : [0-9]+ ('.' [0-9]+)?
    ;

STRING
    : '"' ~["\r\n]* '"'
    ;

COMMENT
    : '/*' .*? '*/' -> skip
    ;

BLANK
    : [ \t\r\n]+ -> skip
    ;
