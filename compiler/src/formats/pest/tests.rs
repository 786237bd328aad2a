//! Snapshots of grammars and diagnostics.

use expect_test::{Expect, expect};

use super::Pest;
use crate::formats::testing;

fn check(text: &str, expected: Expect) {
    expected.assert_eq(&testing::parsed(&Pest, text));
}

#[test]
fn without_anything_implicit() {
    check(
        "//! docs\n/* a /* nested */ comment */\n/// more\nfile = { SOI ~ (record ~ (\"\\r\\n\" | \"\\n\"))* ~ EOI }\n\
         record = _{ #tag = field ~ (\",\" ~ field){2,} ~ ^\"x1\"? }\nfield = @{ (ASCII_DIGIT | '\\u{61}'..'\\x7a' | \".\")+ ~ \"q\"{,3} ~ \"r\"{2} }\n\
         other = ${ UPPERCASE_LETTER{1,2} ~ ANY ~ NEWLINE }",
        expect![[r#"
            %start file
            file ::= () (record ("\r\n" | "\n"))* ()
            record ::= field ("," field){2,} ([Xx] "1")?
            field ::= ([0-9] | [a-z] | ".")+ "q"{0,3} "r"{2}
            other ::= [A-Z#xC0-#xD6#xD8-#xDE#x100#x102#x104#x106#x108#x10A#x10C#x10E#x110#x112#x114#x116#x118#x11A#x11C#x11E#x120#x122#x124#x126#x128#x12A#x12C#x12E#x130#x132#x134#x136#x139#x13B#x13D#x13F#x141#x143#x145#x147#x14A#x14C#x14E#x150#x152#x154#x156#x158#x15A#x15C#x15E#x160#x162#x164#x166#x168#x16A#x16C#x16E#x170#x172#x174#x176#x178#x179#x17B#x17D#x181#x182#x184#x186#x187#x189-#x18B#x18E-#x191#x193#x194#x196-#x198#x19C#x19D#x19F#x1A0#x1A2#x1A4#x1A6#x1A7#x1A9#x1AC#x1AE#x1AF#x1B1-#x1B3#x1B5#x1B7#x1B8#x1BC#x1C4#x1C7#x1CA#x1CD#x1CF#x1D1#x1D3#x1D5#x1D7#x1D9#x1DB#x1DE#x1E0#x1E2#x1E4#x1E6#x1E8#x1EA#x1EC#x1EE#x1F1#x1F4#x1F6-#x1F8#x1FA#x1FC#x1FE#x200#x202#x204#x206#x208#x20A#x20C#x20E#x210#x212#x214#x216#x218#x21A#x21C#x21E#x220#x222#x224#x226#x228#x22A#x22C#x22E#x230#x232#x23A#x23B#x23D#x23E#x241#x243-#x246#x248#x24A#x24C#x24E#x370#x372#x376#x37F#x386#x388-#x38A#x38C#x38E#x38F#x391-#x3A1#x3A3-#x3AB#x3CF#x3D2-#x3D4#x3D8#x3DA#x3DC#x3DE#x3E0#x3E2#x3E4#x3E6#x3E8#x3EA#x3EC#x3EE#x3F4#x3F7#x3F9#x3FA#x3FD-#x42F#x460#x462#x464#x466#x468#x46A#x46C#x46E#x470#x472#x474#x476#x478#x47A#x47C#x47E#x480#x48A#x48C#x48E#x490#x492#x494#x496#x498#x49A#x49C#x49E#x4A0#x4A2#x4A4#x4A6#x4A8#x4AA#x4AC#x4AE#x4B0#x4B2#x4B4#x4B6#x4B8#x4BA#x4BC#x4BE#x4C0#x4C1#x4C3#x4C5#x4C7#x4C9#x4CB#x4CD#x4D0#x4D2#x4D4#x4D6#x4D8#x4DA#x4DC#x4DE#x4E0#x4E2#x4E4#x4E6#x4E8#x4EA#x4EC#x4EE#x4F0#x4F2#x4F4#x4F6#x4F8#x4FA#x4FC#x4FE#x500#x502#x504#x506#x508#x50A#x50C#x50E#x510#x512#x514#x516#x518#x51A#x51C#x51E#x520#x522#x524#x526#x528#x52A#x52C#x52E#x531-#x556#x10A0-#x10C5#x10C7#x10CD#x13A0-#x13F5#x1C89#x1C90-#x1CBA#x1CBD-#x1CBF#x1E00#x1E02#x1E04#x1E06#x1E08#x1E0A#x1E0C#x1E0E#x1E10#x1E12#x1E14#x1E16#x1E18#x1E1A#x1E1C#x1E1E#x1E20#x1E22#x1E24#x1E26#x1E28#x1E2A#x1E2C#x1E2E#x1E30#x1E32#x1E34#x1E36#x1E38#x1E3A#x1E3C#x1E3E#x1E40#x1E42#x1E44#x1E46#x1E48#x1E4A#x1E4C#x1E4E#x1E50#x1E52#x1E54#x1E56#x1E58#x1E5A#x1E5C#x1E5E#x1E60#x1E62#x1E64#x1E66#x1E68#x1E6A#x1E6C#x1E6E#x1E70#x1E72#x1E74#x1E76#x1E78#x1E7A#x1E7C#x1E7E#x1E80#x1E82#x1E84#x1E86#x1E88#x1E8A#x1E8C#x1E8E#x1E90#x1E92#x1E94#x1E9E#x1EA0#x1EA2#x1EA4#x1EA6#x1EA8#x1EAA#x1EAC#x1EAE#x1EB0#x1EB2#x1EB4#x1EB6#x1EB8#x1EBA#x1EBC#x1EBE#x1EC0#x1EC2#x1EC4#x1EC6#x1EC8#x1ECA#x1ECC#x1ECE#x1ED0#x1ED2#x1ED4#x1ED6#x1ED8#x1EDA#x1EDC#x1EDE#x1EE0#x1EE2#x1EE4#x1EE6#x1EE8#x1EEA#x1EEC#x1EEE#x1EF0#x1EF2#x1EF4#x1EF6#x1EF8#x1EFA#x1EFC#x1EFE#x1F08-#x1F0F#x1F18-#x1F1D#x1F28-#x1F2F#x1F38-#x1F3F#x1F48-#x1F4D#x1F59#x1F5B#x1F5D#x1F5F#x1F68-#x1F6F#x1FB8-#x1FBB#x1FC8-#x1FCB#x1FD8-#x1FDB#x1FE8-#x1FEC#x1FF8-#x1FFB#x2102#x2107#x210B-#x210D#x2110-#x2112#x2115#x2119-#x211D#x2124#x2126#x2128#x212A-#x212D#x2130-#x2133#x213E#x213F#x2145#x2183#x2C00-#x2C2F#x2C60#x2C62-#x2C64#x2C67#x2C69#x2C6B#x2C6D-#x2C70#x2C72#x2C75#x2C7E-#x2C80#x2C82#x2C84#x2C86#x2C88#x2C8A#x2C8C#x2C8E#x2C90#x2C92#x2C94#x2C96#x2C98#x2C9A#x2C9C#x2C9E#x2CA0#x2CA2#x2CA4#x2CA6#x2CA8#x2CAA#x2CAC#x2CAE#x2CB0#x2CB2#x2CB4#x2CB6#x2CB8#x2CBA#x2CBC#x2CBE#x2CC0#x2CC2#x2CC4#x2CC6#x2CC8#x2CCA#x2CCC#x2CCE#x2CD0#x2CD2#x2CD4#x2CD6#x2CD8#x2CDA#x2CDC#x2CDE#x2CE0#x2CE2#x2CEB#x2CED#x2CF2#xA640#xA642#xA644#xA646#xA648#xA64A#xA64C#xA64E#xA650#xA652#xA654#xA656#xA658#xA65A#xA65C#xA65E#xA660#xA662#xA664#xA666#xA668#xA66A#xA66C#xA680#xA682#xA684#xA686#xA688#xA68A#xA68C#xA68E#xA690#xA692#xA694#xA696#xA698#xA69A#xA722#xA724#xA726#xA728#xA72A#xA72C#xA72E#xA732#xA734#xA736#xA738#xA73A#xA73C#xA73E#xA740#xA742#xA744#xA746#xA748#xA74A#xA74C#xA74E#xA750#xA752#xA754#xA756#xA758#xA75A#xA75C#xA75E#xA760#xA762#xA764#xA766#xA768#xA76A#xA76C#xA76E#xA779#xA77B#xA77D#xA77E#xA780#xA782#xA784#xA786#xA78B#xA78D#xA790#xA792#xA796#xA798#xA79A#xA79C#xA79E#xA7A0#xA7A2#xA7A4#xA7A6#xA7A8#xA7AA-#xA7AE#xA7B0-#xA7B4#xA7B6#xA7B8#xA7BA#xA7BC#xA7BE#xA7C0#xA7C2#xA7C4-#xA7C7#xA7C9#xA7CB#xA7CC#xA7D0#xA7D6#xA7D8#xA7DA#xA7DC#xA7F5#xFF21-#xFF3A#x10400-#x10427#x104B0-#x104D3#x10570-#x1057A#x1057C-#x1058A#x1058C-#x10592#x10594#x10595#x10C80-#x10CB2#x10D50-#x10D65#x118A0-#x118BF#x16E40-#x16E5F#x1D400-#x1D419#x1D434-#x1D44D#x1D468-#x1D481#x1D49C#x1D49E#x1D49F#x1D4A2#x1D4A5#x1D4A6#x1D4A9-#x1D4AC#x1D4AE-#x1D4B5#x1D4D0-#x1D4E9#x1D504#x1D505#x1D507-#x1D50A#x1D50D-#x1D514#x1D516-#x1D51C#x1D538#x1D539#x1D53B-#x1D53E#x1D540-#x1D544#x1D546#x1D54A-#x1D550#x1D56C-#x1D585#x1D5A0-#x1D5B9#x1D5D4-#x1D5ED#x1D608-#x1D621#x1D63C-#x1D655#x1D670-#x1D689#x1D6A8-#x1D6C0#x1D6E2-#x1D6FA#x1D71C-#x1D734#x1D756-#x1D76E#x1D790-#x1D7A8#x1D7CA#x1E900-#x1E921]{1,2} [#x09#x0A#x20-~] ("\n" | "\r\n" | "\r")
        "#]],
    );
}

#[test]
fn implicit_white_space_and_separators() {
    check(
        "program = { SOI ~ (\"let\" ~ ident ~ \"=\" ~ value ~ \";\")+ ~ EOI }\n\
         value = { ident | number | \"(\" ~ value ~ \")\" }\n\
         ident = @{ !keyword ~ ASCII_ALPHA ~ (inner)* }\ninner = { ASCII_ALPHANUMERIC ~ \"_\"? }\nkeyword = { \"let\" }\n\
         number = ${ ASCII_DIGIT+ }\nWHITESPACE = _{ \" \" | \"\\n\" }\nCOMMENT = _{ \"//\" ~ (!\"\\n\" ~ ANY)* }",
        expect![[r#"
            %start program
            program ::= () implicit. (round.1 (implicit. round.1)*) implicit. ()
            value ::= " " ident | " " number | (" " "(") implicit. value implicit. (" " ")")
            inner ::= [0-9A-Za-z] implicit. (" " "_")?
            keyword ::= "let"
            round.1 ::= (" " "let") implicit. (" " ident) implicit. (" " "=") implicit. value implicit. (" " ";")
            ident ::= [A-Za-km-z] inner.atomic*
            number ::= [0-9]+
            WHITESPACE ::= " " | "\n"
            COMMENT ::= "//" [#x09#x20-~]*
            inner.atomic ::= [0-9A-Za-z] "_"?
            implicit. ::= () @ 12 | WHITESPACE implicit. @ 3 | COMMENT "\n" implicit. @ 1
        "#]],
    );
}

#[test]
fn predicates_that_exclude_characters() {
    check(
        "a = { (!\"*/\" ~ ANY)* ~ \"*/\" ~ (!(\"x\" | \"yz\") ~ !b ~ c)+ ~ !EOI ~ ANY ~ &\"q\" ~ !a ~ a }\nb = { '0'..'9' }\nc = { 'a'..'z' | '0'..'9' }",
        expect![[r#"
            %start a
            a ::= ([#x09#x0A#x20-)+-~] | [*] [#x09#x0A#x20-)+-.0-~])* "*/" [a-wz]+ [#x09#x0A#x20-~] () () a
            b ::= [0-9]
            c ::= [a-z] | [0-9]
            g:1:72: warning[not-context-free]: a predicate is left out
              | " ~ ANY)* ~ "*/" ~ (!("x" | "yz") ~ !b ~ c)+ ~ !EOI ~ ANY ~ &"q" ~ !a ~ a }
              |                                                             ^^^^^
              help: a predicate is honoured where it excludes single characters, as in `!"x" ~ ANY`
        "#]],
    );
}

#[test]
fn the_stack() {
    check("raw = { \"r\" ~ PUSH(\"#\"*) ~ \"q\" ~ (PEEK | PEEK[0..1]) ~ POP ~ DROP }", expect![[r##"
        %start raw
        raw ::= "r" "#"* "q" ("#"* | "#"*) "#"* ()
        g:1:35: warning[not-context-free]: the stack is left out
          | raw = { "r" ~ PUSH("#"*) ~ "q" ~ (PEEK | PEEK[0..1]) ~ POP ~ DROP }
          |                                   ^^^^
          help: a grammar cannot repeat what it has drawn; both are drawn on their own
        g:1:35: warning[not-context-free]: a choice is not ordered
          | raw = { "r" ~ PUSH("#"*) ~ "q" ~ (PEEK | PEEK[0..1]) ~ POP ~ DROP }
          |                                   ^^^^^^^^^^^^^^^^^
          help: in a PEG the first alternative that fits wins; here each may be drawn, and a text of a later one may be read by an earlier one
    "##]]);
}

#[test]
fn several_errors_in_one_run() {
    check(
        "a = { \"x }\nb = { ( \"x\" ~ \"y\" }\nc = \"x\"\nd = { \"x\" \"y\" }\ne = { 'z'..'a' }\nf = { \"\\q\" }\ng = { \"x\"{3,2} }\nh = { | }",
        expect![[r#"
            g:2:10: error[syntax]: expected `}`, found `x`
              | b = { ( "x" ~ "y" }
              |          ^
              help: a rule is written `name = { term ~ term | term }`
            g:3:5: error[syntax]: expected `{`, found `"`
              | c = "x"
              |     ^
              help: a rule is written `name = { term ~ term | term }`
            g:4:11: error[syntax]: expected `}`, found `"`
              | d = { "x" "y" }
              |           ^
              help: a rule is written `name = { term ~ term | term }`
            g:5:7: error[syntax]: this is no range of characters
              | e = { 'z'..'a' }
              |       ^^^^^^^^
              help: a range is `'a'..'z'`, the smaller end first
            g:6:8: error[syntax]: unknown escape
              | f = { "\q" }
              |        ^^
              help: escapes are `\n`, `\r`, `\t`, `\0`, `\\`, `\'`, `\"`, `\x41` and `\u{E9}`
            g:7:10: error[syntax]: this is no repetition
              | g = { "x"{3,2} }
              |          ^^^^
              help: write `{2}`, `{2,}`, `{,5}` or `{2,5}`
            g:8:9: error[syntax]: expected a term, found `}`
              | h = { | }
              |         ^
              help: a term is text in double quotes, a range `'a'..'z'`, a name, or a group in parentheses
        "#]],
    );
    check("b = { ( \"x\" ~ \"y\" }\nc = \"x\"\nd = { \"x\" \"y\" }\ne = { 'z'..'a' }\nf = { \"\\q\" }\ng = { \"x\"{3,2} }\nh = { | }\n-", expect![[r#"
        g:1:7: error[syntax]: this group is not closed
          | b = { ( "x" ~ "y" }
          |       ^
          note: g:1:19: `)` is missing before this
          help: close it with `)`
        g:2:5: error[syntax]: expected `{`, found `"`
          | c = "x"
          |     ^
          help: a rule is written `name = { term ~ term | term }`
        g:3:11: error[syntax]: expected `}`, found `"`
          | d = { "x" "y" }
          |           ^
          help: a rule is written `name = { term ~ term | term }`
        g:4:7: error[syntax]: this is no range of characters
          | e = { 'z'..'a' }
          |       ^^^^^^^^
          help: a range is `'a'..'z'`, the smaller end first
        g:5:8: error[syntax]: unknown escape
          | f = { "\q" }
          |        ^^
          help: escapes are `\n`, `\r`, `\t`, `\0`, `\\`, `\'`, `\"`, `\x41` and `\u{E9}`
        g:6:10: error[syntax]: this is no repetition
          | g = { "x"{3,2} }
          |          ^^^^
          help: write `{2}`, `{2,}`, `{,5}` or `{2,5}`
        g:7:9: error[syntax]: expected a term, found `}`
          | h = { | }
          |         ^
          help: a term is text in double quotes, a range `'a'..'z'`, a name, or a group in parentheses
    "#]]);
}
