package binding

import (
	"fmt"
	"slices"
	"strings"

	"sealab/codecs"
	"sealab/fuzz/attack"
	"sealab/fuzz/attack/fields"
	"sealab/internal/verdict"
)

// A twin is a pair of different texts that a careless comparison treats as equal.
type twin struct{ a, b, how string }

// unicodeTwins are texts that differ only in Unicode form, case, white space or encoding.
var unicodeTwins = []twin{
	{"jos\u00e9", "jose\u0301", "composed and decomposed"}, {"\u212bngstrom", "\u00c5ngstrom", "compatibility forms"}, {"\ufb01le", "file", "ligature"},
	{"Alice", "alice", "upper and lower case"}, {"ALICE", "alice", "upper and lower case"}, {"stra\u00dfe", "strasse", "sharp s"},
	{"\u0131d", "id", "dotless i"},
	{"\u212aim", "kim", "Kelvin sign"}, {"\u0430lice", "alice", "Cyrillic a"}, {"alice", "\uff41lice", "full width"},
	{"jos\u00e9", "jose", "accents dropped"},
	{"jos\u00e9", "jos?", "replaced"}, {"jos\u00e9", "jos\u00e8", "letters that are not ASCII"}, {"a\u00ad", "a", "soft hyphen"},
	{"alice\u200b", "alice", "zero-width space"},
	{"alice ", "alice", "space behind"}, {" alice", "alice", "space in front"}, {"alice\t", "alice", "tab behind"},
	{"alice\n", "alice", "line break behind"},
	{"alice\x00", "alice", "NUL behind"}, {"alice\x00admin", "alice\x00guest", "different behind a NUL"}, {"alice\x00admin", "alice", "cut at a NUL"},
	{"a%2Fb", "a/b", "percent escape"}, {"a+b", "a b", "plus and space"}, {"a%20b", "a b", "percent escape"},
	{"a&amp;b", "a&b", "an entity of HTML"}, {"alice<!---->", "alice", "a comment of XML"}, {"alice<b>", "alice", "a tag of HTML"},
	{`\u0061lice`, "alice", "an escape of JSON"}, {`\x61lice`, "alice", "an escape of a byte"},
	{"a=20b", "a b", "quoted-printable"}, {"a\\b", "a/b", "slash and backslash"},
	{"\ufeffalice", "alice", "byte order mark"}, {"a  b", "a b", "two spaces"}, {"a\r\nb", "a\nb", "line breaks"},
	{"\U0001f600", "\ufffd", "replacement character"},
	{"\U0001f600", "\U0001f601", "different outside the first plane"}, {"\U00010041", "A", "cut to 16 bits"}, {"\u0141lice", "Alice", "cut to 8 bits"},
	{"a;b", "a\u037eb", "canonical equivalent of a semicolon"}, {"\u03c3", "\u03c2", "final sigma"},
	{"a\u2024b", "a.b", "one dot leader"}, {"\u2170", "i", "Roman numeral"},
	{"\u0661", "1", "a digit of another script"}, {"alice\x01", "alice", "a control character"},
	{"alice\u200e", "alice", "a mark of direction"}, {"alice\u200d", "alice", "a zero-width joiner"},
	{"alice\u00a0", "alice", "no-break space behind"}, {"\u3000alice", "alice", "ideographic space in front"},
	{"alice\u2003", "alice", "em space behind"}, {"a\u00a0b", "a b", "a space that is not ASCII"},
	{"o\u2019b", "o'b", "an apostrophe"}, {"a\u2010b", "a-b", "a hyphen"}, {"\u201ca\u201d", "\"a\"", "quotation marks"},
	{"a\ufe0f", "a", "a variation selector"}, {"a\u034f", "a", "a joiner of graphemes"},
}

// surrogateTwins are texts that are not valid Unicode, so a reader may replace them. Not every
// worker can receive them.
var surrogateTwins = []twin{{"\xed\xa0\x80", "\xed\xa0\x81", "lone surrogates"}, {"\xed\xa0\x80", "\ufffd", "a lone surrogate and its replacement"}, {"\xff", "\xfe", "bytes that are not UTF-8"},
	{"\ufffd", "\xff", "a replacement character and a byte that is not UTF-8"}}

// partTwins are texts of which one is a part, a list, a digest or another form of the other.
var partTwins = []twin{
	{"alice", "2bd806c97f0e00af1a1fc3328fa763a9269723c8db8fac4f93af71db186d6e90", "the SHA-256"}, {"alice", "522b276a356bdf39013dfabea2cd43e141ecc9e8", "the SHA-1"},
	{"alice", "6384e2b2184bcbf58eccf10ca7a6563c", "the MD5"}, {"alice", "YWxpY2U", "the base64"}, {"alice", "616c696365", "the hexadecimal text"},
	{"alice", "alic", "a beginning"}, {"alice", "alice2", "a beginning"}, {"alice", "lice", "an end"},
	{"alice", "a", "the first letter"}, {"alice", "ecila", "the letters"},
	{"alice,bob", "bob,alice", "the order of a list"}, {"alice bob", "bob alice", "the order of a list"},
	{"alice alice", "alice", "a list with a member twice"},
	{"alice,bob", "alice", "a list and its member"}, {"alice bob", "alice", "a list and its member"},
	{"[\"alice\"]", "alice", "a list of one"}, {"\"alice\"", "alice", "quotes"},
	{"a.alice", "alice", "the part behind a full stop"}, {"a.b.example", "c.b.example", "the first label of a host"},
	{"tenant/alice", "alice", "the last part of a path"}, {"tenant__alice", "alice", "the part behind two underscores"},
	{"a/b?c=1", "a/b?c=2", "the query"}, {"a/b?c=1", "a/b", "the query"}, {"a/b#c", "a/b", "the fragment"},
	{"a/b/", "a/b", "a slash behind"}, {"a//b", "a/b", "two slashes"}, {"a/./b", "a/b", "a full stop"},
	{"a/b", "a_b", "a slash and an underscore"}, {"a/b", "a-b", "a slash and a hyphen"},
	{"a_b", "a-b", "an underscore and a hyphen"}, {"a.b", "a_b", "a full stop and an underscore"},
	{"item01", "item1", "numbers inside"}, {"a/x/../b", "a/b", "parent folders"}, {"YWxpY2U=", "YWxpY2U", "the padding of base64"},
	{"YT8-_w==", "YT8+/w==", "the alphabet of base64"}, {"1", "01", "numbers"}, {"1", "1.0", "numbers"}, {"1", "1e0", "numbers"},
	{"10", "0x0a", "numbers"},
	{"true", "1", "truth"}, {"0", "", "truth"}, {"9007199254740993", "9007199254740992", "numbers over 2^53"},
	{"*", "alice", "a pattern"}, {"a*", "alice", "a pattern"}, {".*", "alice", "a pattern"},
	{`alice","z":"1`, "alice", "a member of JSON behind a quote"}, {"alice&z=1", "alice", "a member of a form"},
	{"alice;z=1", "alice", "a parameter"}, {"alice\nz:1", "alice", "a line more"}, {"alice\r\nz: 1", "alice", "a header more"},
	{"Aa", "BB", "a hash of 32 bits"}, {"plumless", "buckeroo", "CRC-32"}, {"Aa", "B@", "djb2"},
	{"240610708", "QNKCDZO", "MD5, read as a number"}, {"10932435112", "aaroZmOk", "SHA-1, read as a number"},
	{"34250003024812", "TyNOQHUS", "SHA-256, read as a number"}, {"bdb", "cbc", "Adler-32"}, {"costarring", "liquid", "FNV-1a"},
	{"qkosyyqs", "gsirvqtl", "FNV-1"}, {"ujymkvnc", "rabageds", "CRC-32C"}, {"qdyabfry", "rutdgtac", "MurmurHash3"},
	{"fteakgho", "ncernlkh", "xxHash32"}, {"hcjwkrfl", "xpijhylw", "sdbm"}, {"nhhonxoq", "qoztaihp", "a hash of Jenkins"},
}

// nameTwins are structured names that a reader may normalize: URLs (RFC 3986, section
// 6), mail addresses (RFC 5321, section 2.4), Windows accounts, subjects with an issuer.
var nameTwins = []twin{
	{"https://a.example/x", "HTTPS://a.example/x", "the case of the scheme"}, {"https://a.example/x", "http://a.example/x", "the scheme"},
	{"https://a.example/x", "https://A.EXAMPLE/x", "the case of the host"}, {"https://a.example/x", "https://b.example/x", "the host"},
	{"https://a.example/x", "https://a.example/X", "the case of the path"}, {"https://a.example/x", "https://a.example/y", "the path"},
	{"https://a.example/", "https://a.example", "the final slash of a host"},
	{"https://a.example/x/", "https://a.example/x", "the final slash of a path"},
	{"https://a.example:443/x", "https://a.example/x", "the default port"},
	{"http://a.example:80/x", "http://a.example/x", "the default port"},
	{"https://a.example:8443/x", "https://a.example/x", "the port"},
	{"https://a.example/x/./y", "https://a.example/x/y", "a dot segment"},
	{"https://a.example/x/../y", "https://a.example/y", "two dot segments"},
	{"https://a.example//x", "https://a.example/x", "two slashes"},
	{"https://a.example/%7Ex", "https://a.example/~x", "a percent escape"},
	{"https://a.example/%2f", "https://a.example/%2F", "the case of a percent escape"},
	{"https://a.example/a%2Fb", "https://a.example/a/b", "an escaped slash"},
	{"https://a.example/x?", "https://a.example/x", "the empty query"},
	{"https://a.example/x#", "https://a.example/x", "the empty fragment"},
	{"https://a.example/x#f", "https://a.example/x", "the fragment"},
	{"https://a.example/x?b=1&a=2", "https://a.example/x?a=2&b=1", "the order of the query"},
	{"https://a.example/x?a=1", "https://a.example/x?a=2", "the query"},
	{"https://a.example/x?a=+", "https://a.example/x?a=%20", "plus and space in the query"},
	{"https://b\u00fccher.example/", "https://xn--bcher-kva.example/", "an internationalized host"},
	{"https://a.example./x", "https://a.example/x", "the final full stop of a host"},
	{"https://a\u3002example/x", "https://a.example/x", "an ideographic full stop in a host"},
	{"https://u@a.example/x", "https://a.example/x", "the user of a URL"}, {"file:///x", "file:/x", "the empty host"},
	{"alice@a.example", "alice@A.EXAMPLE", "the case of the mail domain"},
	{"alice@a.example", "Alice@a.example", "the case of the mail name"}, {"alice@a.example", "alice@b.example", "the mail domain"},
	{"alice@a.example", "alice", "the mail name"},
	{"alice+b@a.example", "alice@a.example", "the text from + to @"},
	{"a.lice@a.example", "alice@a.example", "full stops in the mail name"},
	{"alice@a.example", "alice@a.example.", "the final full stop of the mail domain"},
	{"alice@googlemail.com", "alice@gmail.com", "two mail domains of one provider"},
	{"a.lice@gmail.com", "alice@gmail.com", "full stops in a name of one provider"},
	{"alice+b@gmail.com", "alice@gmail.com", "the text from + to @ at one provider"},
	{"mailto:alice@a.example", "alice@a.example", "the scheme of a mail address"},
	{"Alice <alice@a.example>", "alice@a.example", "the name in front of a mail address"},
	{"@alice", "alice", "an at sign in front"}, {"+49 30 1", "+49301", "spaces in a telephone number"},
	{"::ffff:10.0.0.1", "10.0.0.1", "an IPv4 address within IPv6"},
	{"https://www.a.example/x", "https://a.example/x", "the label www"}, {"www.a.example", "a.example", "the label www"},
	{"alice@b\u00fccher.example", "alice@xn--bcher-kva.example", "an internationalized mail domain"},
	{"\"alice\"@a.example", "alice@a.example", "a quoted mail name"}, {"<alice@a.example>", "alice@a.example", "angle brackets"},
	{"alice(b)@a.example", "alice@a.example", "a comment in a mail address"},
	{"ACME\\alice", "alice", "the account without its domain"}, {"ACME\\alice", "acme\\alice", "the case of the account domain"},
	{"ACME\\alice", "OTHER\\alice", "the account domain"}, {"ACME\\alice", "alice@ACME", "two forms of an account"},
	{"ACME\\alice", "ACME/alice", "slash and backslash"},
	{"iss:alice", "alice", "the subject without its issuer"}, {"iss:alice", "other:alice", "the issuer"},
	{"iss:alice", "ISS:alice", "the case of the issuer"}, {"iss|alice", "other|alice", "the issuer"},
	{"auth0|alice", "alice", "the subject without its issuer"}, {"user:alice", "service:alice", "the kind of subject"},
	{"iss:a:lice", "iss:lice", "the text up to the last colon"},
	{"cn=alice,o=a", "o=a,cn=alice", "the order of a distinguished name"},
	{"CN=alice,O=a", "cn=alice,o=a", "the case of a distinguished name"},
	{"cn=alice, o=a", "cn=alice,o=a", "a space in a distinguished name"},
	{"urn:a:B", "URN:a:B", "the case of a URN"}, {"urn:a:b", "urn:a:B", "the case in a URN"},
	{"550e8400-e29b-41d4-a716-446655440000", "550E8400-E29B-41D4-A716-446655440000", "the case of a UUID"},
	{"550e8400-e29b-41d4-a716-446655440000", "{550e8400-e29b-41d4-a716-446655440000}", "a UUID in braces"},
	{"10.0.0.1", "10.0.0.01", "an IPv4 address"}, {"::1", "0:0:0:0:0:0:0:1", "an IPv6 address"},
	{"https://[::1]/x", "https://[0:0:0:0:0:0:0:1]/x", "an IPv6 address in a URL"},
	{"https://127.0.0.1/x", "https://2130706433/x", "an IPv4 address as a number"},
	{"did:a:b", "did:a:b#k", "the fragment of a DID"}, {"did:a:b", "did:a:b?v=1", "the query of a DID"},
	{"alice@a.example/b", "alice@a.example", "the resource of a Jabber ID"}, {"alice/admin@A.EXAMPLE", "alice@A.EXAMPLE", "the instance of a Kerberos principal"},
	{"alice-b@a.example", "alice@a.example", "the text from - to @"}, {"alice@b.a.example", "alice@a.example", "a host in front of the mail domain"},
	{"alice%b@a.example", "alice@a.example", "the text from a percent sign to @"}, {"alice+b", "alice", "the text behind +"},
	{"@alice:a.example", "@alice:b.example", "the server of a Matrix ID"}, {"a.example\\alice", "ACME\\alice", "two forms of an account domain"},
	{"/a/b/", "/a/b", "a slash behind a path"}, {"/a//b", "/a/b", "two slashes of a path"}, {"//a", "/a", "two slashes in front of a path"},
	{"/a/./b", "/a/b", "a full stop in a path"}, {"/x/../a", "/a", "parent folders of a path"}, {"/../a", "/a", "the parent of the root"},
	{"/%61", "/a", "a percent escape in a path"}, {"/A", "/a", "the case of a path"}, {"a/../b", "b", "parent folders of a relative path"},
	{"file://localhost/x", "file:///x", "the name of this host"}, {"file:///C:/x", "file:///c:/x", "the case of a drive"}, {"file:///x#f", "file:///x", "the fragment of a file"},
	{"ui://a/b#x", "ui://a/b#y", "the fragment of a rare scheme"}, {"ui://a/b?c=1", "ui://a/b?c=2", "the query of a rare scheme"}, {"urn:a:b?+c", "urn:a:b", "a component of a URN"}, {"urn:a:b#c", "urn:a:b", "the fragment of a URN"},
	{"https://a.example/x;v=1", "https://a.example/x", "a parameter of a path"}, {"https://a.example/x/index.html", "https://a.example/x/", "the default page"},
	{"https://a.example/x?utm_source=a", "https://a.example/x", "a member of a query that is stripped"}, {"https://a.example/x?a=1&a=2", "https://a.example/x?a=2", "a member twice in a query"},
	{"https://a.example/x?a", "https://a.example/x?a=", "an empty member of a query"}, {"https://a.example:/x", "https://a.example/x", "an empty port"},
	{"https://a.exam\tple/x", "https://a.example/x", "a tab, which parsers of URLs strip"}, {"https://a.example\\x", "https://a.example/x", "a backslash in a URL"},
	{"https:a.example/x", "https://a.example/x", "the slashes of a URL"}, {"https://a.example/y/%2e%2e/x", "https://a.example/x", "escaped dot segments"},
	{"https://a.example/a%252Fb", "https://a.example/a%2Fb", "an escape of an escape"}, {"wss://a.example/x", "https://a.example/x", "the schemes of one server"},
}

// patternTwins are pairs of a pattern and a text that it matches. A reader may take a bound value for a
// pattern: of a shell, of hosts, of SQL, a regular expression, a URI template (RFC 6570), a range
// of addresses, a filter of topics, a scope, or a word for every value.
var patternTwins = []twin{
	{"*", "b.a.example", "a pattern of every value"}, {"*.a.example", "b.a.example", "a pattern of hosts"}, {"*.a.example", "c.b.a.example", "a pattern of hosts"},
	{"*.a.example", "a.example", "a pattern of hosts"}, {".a.example", "b.a.example", "a domain with a full stop in front"}, {"a.example", "b.a.example", "a domain and its host"},
	{"https://*.a.example/", "https://b.a.example/", "a pattern of hosts in a URL"}, {"https://a.example/*", "https://a.example/x", "a pattern of paths"},
	{"https://a.example/", "https://a.example/x", "a URL and the start of another"}, {"http://localhost:*", "http://localhost:8080", "a pattern of ports"},
	{"a/*", "a/b", "a pattern of paths"}, {"a/**", "a/b/c", "a pattern of folders"}, {"a/", "a/b", "a folder and its file"}, {"a/b", "a/b/c", "a folder and its file"},
	{"a/{id}", "a/7", "a URI template"}, {"a/:id", "a/7", "a route"}, {"a/<id>", "a/7", "a route"}, {"a/+", "a/b", "a filter of topics"}, {"a/#", "a/b/c", "a filter of topics"}, {"a.>", "a.b", "a filter of subjects"},
	{"a:*", "a:b", "a pattern of scopes"}, {"*@a.example", "alice@a.example", "a pattern of mail addresses"}, {"@a.example", "alice@a.example", "the mail domain for all names"},
	{"*_b", "a_b", "a pattern of names"}, {"a*c", "abbc", "a pattern of names"}, {"alic?", "alice", "one letter of a pattern"}, {"[a-z]lice", "alice", "a set of letters"}, {"{alice,bob}", "alice", "alternatives"}, {"!bob", "alice", "a negation"},
	{"al%", "alice", "a pattern of SQL"}, {"alic_", "alice", "one letter of a pattern of SQL"},
	{"al.*", "alice", "a regular expression"}, {"alic.", "alice", "one letter of a regular expression"}, {"^alice$", "alice", "the ends of a regular expression"}, {"alice|bob", "alice", "alternatives of a regular expression"},
	{"a.example", "a-example", "the full stop of a regular expression"}, {`\w+`, "alice", "a class of a regular expression"}, {"/alice/", "alice", "slashes around a regular expression"},
	{"10.0.0.0/8", "10.1.2.3", "a range of addresses"}, {"10.0.0.*", "10.0.0.7", "a range of addresses"}, {"2001:db8::/32", "2001:db8::1", "a range of addresses"}, {"https://localhost/", "https://127.0.0.1/", "two names of this host"},
	{"any", "alice", "a word for every value"}, {"all", "alice", "a word for every value"}, {"everyone", "alice", "a word for every value"},
}

// methodTwins are methods of one family, and methods with a common beginning or end.
var methodTwins = []twin{
	{"notifications/progress", "notifications/cancelled", "a family"}, {"tools/list", "tools/call", "a family"},
	{"prompts/list", "prompts/get", "a family"}, {"resources/read", "resources/list", "a family"},
	{"resources/subscribe", "resources/unsubscribe", "a family"}, {"tasks/get", "tasks/cancel", "a family"},
	{"x/read", "x/write", "a family"}, {"x/read", "y/read", "the family"}, {"logging/setLevel", "ping", "methods without a target"},
}

// structureTwins are arguments that differ in structure or type. Objects that differ only in the
// order of members, and 1 and 1.0, are left out: sound readers treat those as equal.
var structureTwins = slices.Concat(namedTwins(), writtenMembers(), memberNames(), []twin{
	{`{"v":[1,2]}`, `{"v":[2,1]}`, "the order of a list"}, {`{"v":[1,1]}`, `{"v":[1]}`, "a list and a set"},
	{`{"v":["a","b"]}`, `{"v":["b","a"]}`, "the order of a list of texts"},
	{`{"v":["a","a"]}`, `{"v":["a"]}`, "a list of texts and a set"},
	{`{"v":[{"w":1},{"w":2}]}`, `{"v":[{"w":2},{"w":1}]}`, "the order of a list of objects"},
	{`{"v":[1,2,3]}`, `{"v":[1,2,3,3]}`, "the last of three values repeated"}, {`{"v":[1,2,3,4,5,6]}`, `{"v":[1,2,3,4,5,6,5,6]}`, "the last two of six values repeated"},
	{`{"v":["a,b"]}`, `{"v":["a","b"]}`, "a list joined by commas"},
	{`{"v":[1]}`, `{"v":1}`, "a list of one"}, {`{"v":[]}`, `{}`, "an empty list and an absent member"},
	{`{"v":{}}`, `{}`, "an empty object and an absent member"}, {`{"v":{}}`, `{"v":[]}`, "an object and a list"},
	{`{"v":{"w":1}}`, `{"v":{"w":2}}`, "a value inside"}, {`{"v":{"w":1}}`, `{"v":{"x":1}}`, "a name inside"},
	{`{"v":[{"w":1}]}`, `{"v":[{"w":2}]}`, "a value inside a list"}, {`{"v":{"w":{"x":{"y":1}}}}`, `{"v":{"w":{"x":{"y":2}}}}`, "a value deep inside"},
	{`{"v":1}`, `{"v":"1"}`, "a number and its text"}, {`{"v":true}`, `{"v":"true"}`, "a truth and its text"},
	{`{"v":true}`, `{"v":1}`, "a truth and a number"},
	{`{"v":false}`, `{"v":0}`, "a truth and a number"}, {`{"v":null}`, `{"v":"null"}`, "null and its text"},
	{`{"v":null}`, `{"v":false}`, "null and a truth"}, {`{"v":null}`, `{"v":""}`, "null and an empty text"},
	{`{"v":null}`, `{}`, "null and an absent member"}, {`{"v":""}`, `{}`, "an empty text and an absent member"},
	{`{"v":false}`, `{}`, "false and an absent member"}, {`{"v":1}`, `{"v":-1}`, "a sign"}, {`{"v":1}`, `{"v":1.5}`, "a fraction"},
	{`{"v":1}`, `{"V":1}`, "the case of a name"}, {`{"v":1}`, `{"v":1,"w":2}`, "a member more"},
	{`{"v":1,"":1}`, `{"v":1,"":2}`, "a member without a name"}, {`{"v":1,"w":2}`, `{"v":2,"w":1}`, "values exchanged"},
	{`{"v":{"$ref":"a"}}`, `{"v":{"$ref":"b"}}`, "a member that schemas hide"},
	{`{"_meta":{"v":1}}`, `{"_meta":{"v":2}}`, "a member that the protocol reserves"},
	{`{"__proto__":{"v":1}}`, `{"__proto__":{"v":2}}`, "a member that a language reserves"},
	{`{"v":[1]}`, `{"v":{"0":1}}`, "a list and an object of places"},
	{nestedJSON(12, "1"), nestedJSON(12, "2"), "a value twelve objects deep"},
	{nestedJSON(100, "1"), nestedJSON(100, "2"), "a value a hundred objects deep"},
	{manyMembers(400, "1"), manyMembers(400, "2"), "the last of 400 members"},
	{`{"v":[` + strings.Repeat("0,", 300) + `1]}`, `{"v":[` + strings.Repeat("0,", 300) + `2]}`, "the last of 301 values"},
	{`{"v":[` + strings.Repeat("0,", 5000) + `1]}`, `{"v":[` + strings.Repeat("0,", 5000) + `2]}`, "the last of 5001 values"},
	{`{"v":["a","b"]}`, `{"v":["c","d"]}`, "lists of one length"},
	{`{"v":9007199254740993}`, `{"v":9007199254740992}`, "integers beyond 2^53"},
	{`{"v":18446744073709551617}`, `{"v":18446744073709551616}`, "integers beyond 2^64"},
	{`{"v":123456789012345678901}`, `{"v":123456789012345678902}`, "long integers"},
	{`{"v":1` + strings.Repeat("0", 39) + `1}`, `{"v":1` + strings.Repeat("0", 39) + `2}`, "integers of 41 digits"},
	{`{"v":4294967297}`, `{"v":1}`, "integers cut to 32 bits"}, {`{"v":0.1}`, `{"v":0.10000000000000002}`, "the last digit of a fraction"},
	{`{"v":"a\u0000b"}`, `{"v":"a"}`, "a text cut at a NUL"}, {`{"v":" a"}`, `{"v":"a"}`, "white space in a text"},
	{`{"v":"A"}`, `{"v":"a"}`, "the case of a text"},
	{`{"v":[1,[2,3]]}`, `{"v":[1,2,3]}`, "a list in a list"}, {`{"v":[[]]}`, `{"v":[]}`, "an empty list in a list"},
	{`{"v":[null]}`, `{"v":[]}`, "null in a list"}, {`{"v":[1,null]}`, `{"v":[1]}`, "null at the end of a list"},
	{`{"v":-1}`, `{"v":-2}`, "numbers with one hash in Python"},
	{`{"v":2305843009213693951}`, `{"v":0}`, "numbers modulo 2^61 - 1"}, {`{"v":1e400}`, `{"v":null}`, "infinity and null"},
	{`{"v":"2026-01-01T00:00:00Z"}`, `{"v":"2026-01-01T01:00:00+01:00"}`, "one moment in two time zones"},
	{`{"v":"2026-01-01"}`, `{"v":"2026-01-01T00:00:00"}`, "a date and a time"},
	{`{"v":"2026-01-01T00:00:00Z"}`, `{"v":"2026-01-01T00:00:00.000Z"}`, "a time with a fraction"},
	{`{"v":[1,1]}`, `{"v":[]}`, "a value twice and none"}, {`{"v":[1,2,2]}`, `{"v":[1,3,3]}`, "two values that are there twice"},
	{`{"v":1,"v":1}`, `{"w":2,"w":2}`, "two members that are there twice"}, {`{"v":1,"v":1}`, `{}`, "a member twice and none"},
	{`{"v":[true,false]}`, `{"v":[false,true]}`, "the order of a list of truths"}, {`{"v":[[1],[2]]}`, `{"v":[[2],[1]]}`, "the order of a list of lists"},
	{`{"v":[1,"a"]}`, `{"v":["a",1]}`, "the order of a list of types"}, {`{"v":[{"id":1},{"id":2}]}`, `{"v":[{"id":2},{"id":1}]}`, "the order of a list of objects with IDs"},
	{`{"v":["a",""]}`, `{"v":["a"]}`, "an empty text in a list"}, {`{"v":["A"]}`, `{"v":["a"]}`, "the case of a text in a list"},
	{`{"v":{"w":null}}`, `{"v":{}}`, "null inside an object"}, {`{"v":{"a":1,"b":2}}`, `{"v":{"a":2,"b":1}}`, "values exchanged inside"},
})

// namedTwins returns arguments that differ in a member that readers may treat by its name: ignore it,
// as loggers and request filters do, take it for a set, or fold its case.
func namedTwins() (all []twin) {
	for _, name := range []string{"password", "token", "secret", "api_key", "authorization", "csrf_token", "signature", "timestamp", "nonce", "id", "debug", "description"} {
		all = append(all, twin{`{"v":1,"` + name + `":"a"}`, `{"v":1,"` + name + `":"b"}`, "a member that filters leave out"})
	}
	for _, name := range []string{"scopes", "tags", "roles", "permissions", "ids", "labels", "fields", "required", "items"} {
		all = append(all, twin{`{"` + name + `":["a","b"]}`, `{"` + name + `":["b","a"]}`, "the order of a list whose name is that of a set"})
	}
	for _, name := range []string{"email", "username", "hostname", "domain", "currency", "country"} {
		all = append(all, twin{`{"` + name + `":"A"}`, `{"` + name + `":"a"}`, "the case of a text whose name is that of a code"})
	}
	return all
}

// memberNames returns arguments with names that readers may join, split, trim or rewrite.
func memberNames() (all []twin) {
	for _, joined := range []string{"v.w", "v/w", "v_w", "v__w", "v-w", "v:w", "v|w", "v[w]", "v->w", "vw", "vW"} {
		all = append(all, twin{`{"v":{"w":1}}`, `{"` + joined + `":1}`, "names joined"})
	}
	for _, place := range []string{"v[0]", "v[]", "v.0", "v/0", "v_0"} {
		all = append(all, twin{`{"v":[1]}`, `{"` + place + `":1}`, "a name joined with a place"})
	}
	for _, other := range []string{"aB", "AB", "a-b", "ab", "a b", "a.b", "a_b ", " a_b", "a_b\\u0000c", "a_b[]"} {
		all = append(all, twin{`{"a_b":1}`, `{"` + other + `":1}`, "forms of a name"})
	}
	for _, e := range [][2]string{{"~1", "/"}, {"~0", "~"}, {"%2F", "/"}, {"%25", "%"}, {"%20", "+"}, {`\\.`, "."}, {`\\n`, `\n`}, {`\\u0061`, "a"}, {"&amp;", "&"}, {`\"\"`, `\"`}} {
		all = append(all, twin{`{"x` + e[0] + `y":1}`, `{"x` + e[1] + `y":1}`, "a name and its escaped form"},
			twin{`{"v":"x` + e[0] + `y"}`, `{"v":"x` + e[1] + `y"}`, "a text and its escaped form"})
	}
	return append(all, twin{`{"\u00e9":1}`, `{"e\u0301":1}`, "composed and decomposed names"})
}

// writtenMembers returns texts that contain another member, or another value of a list, as
// formats write them.
func writtenMembers() []twin {
	var all []twin
	for _, form := range fieldInjections {
		member := form.open + "w" + form.middle
		all = append(all, twin{`{"v":` + fields.QuoteJSON("a"+member+"b") + `}`, `{"v":"a","w":"b"}`, fmt.Sprintf("a member behind %q", form.open)},
			twin{`{"v":[` + fields.QuoteJSON("a"+form.open+"b") + `]}`, `{"v":["a","b"]}`, fmt.Sprintf("a value behind %q", form.open)})
	}
	return append(all, twin{`{"v\":1,\"w":2}`, `{"v":1,"w":2}`, "a member in a name"}, twin{`{"v=1&w":2}`, `{"v":1,"w":2}`, "a member in a name"})
}

// nonObjectTwins are arguments that are not objects: lists, texts, numbers and booleans.
var nonObjectTwins = []twin{
	{`[1,2]`, `[2,1]`, "the order of a list"}, {`[1]`, `[2]`, "lists of one length"}, {`[1]`, `1`, "a list of one"},
	{`[]`, `{}`, "an empty list and an empty object"}, {`["a,b"]`, `["a","b"]`, "a list joined by commas"},
	{`[1,2]`, `{"0":1,"1":2}`, "a list and an object of places"}, {`[{"v":1}]`, `[{"v":2}]`, "a value inside a list"},
	{`[null]`, `[]`, "null in a list"}, {`[1,2,3]`, `[1,2,3,3]`, "the last of three values repeated"},
	{`1`, `2`, "two numbers"}, {`1`, `"1"`, "a number and its text"}, {`0`, `false`, "a number and a truth"},
	{`9007199254740993`, `9007199254740992`, "integers beyond 2^53"}, {`1`, `-1`, "a sign"},
	{`"a"`, `"b"`, "two texts"}, {`""`, `null`, "an empty text and null"}, {`"a"`, `"A"`, "the case of a text"},
	{`"null"`, `null`, "null and its text"}, {`"a"`, `["a"]`, "a list of one"},
	{`1`, `1.5`, "a fraction"}, {`"ab"`, `"ba"`, "the letters of a text"}, {`["a"]`, `["b"]`, "texts in lists"}, {`[[1]]`, `[[2]]`, "a value two lists deep"},
	{`true`, `false`, "two truths"}, {`true`, `"true"`, "a truth and its text"}, {`false`, `null`, "false and null"},
}

// nestedJSON returns value within deep objects.
func nestedJSON(deep int, value string) string {
	return strings.Repeat(`{"v":`, deep) + value + strings.Repeat("}", deep)
}

// manyMembers returns an object of n members, the last of which has the value.
func manyMembers(n int, value string) string {
	var b strings.Builder
	for i := range n - 1 {
		fmt.Fprintf(&b, `"m%03d":0,`, i)
	}
	return "{" + b.String() + `"z":` + value + "}"
}

// structures compares arguments that differ in structure, under both methods that have
// arguments.
func (t trial) structures(in *attack.Instance, tok *attack.Token) {
	f := fields.Arguments
	if tok.Under.Arguments == nil || !f.Binds(in, tok) {
		t.Skip("the design does not bind arguments")
		return
	}
	t.structuresIn(in, tok.Under)
	if other, ok := in.Mint(t.State(8), fields.Method.Put(tok.Under, "prompts/get")); ok && f.Binds(in, other) {
		t.structuresIn(in, other.Under)
	}
	t.membersLeftOut(in, tok.Under)
	t.loneSurrogates(in, tok.Under)
	t.tooDeep(in, tok.Under)
}

// leftOut are names of members that readers may treat as something other than arguments.
var leftOut = strings.Fields(`_x x_ $x @x #x .x ~x -x __x x-y X-Y x.y x:y x_at xAt x_ts x_id xId x_url // # $ @
	cursor limit page offset timeout format locale lang language region theme traceparent tracestate baggage progressToken requestId request_id
	correlation_id trace_id span_id session sessionId session_id user userId user_id email name title comment comments note notes reason message tags
	labels annotations metadata meta headers cookie auth credentials passphrase pin otp code state requestState inputResponses confirm confirmed force
	dryRun dry_run verbose created created_at updated_at date time version etag hash checksum digest sig key apiKey access_token refresh_token client_id
	ip userAgent user_agent callback callback_url redirect redirect_uri retry attempt priority order sort optional default undefined type kind schema $schema
	$id $comment @type @context data content body file image blob url uri path`)

// membersLeftOut changes one of many members at a time, at the top level and inside an object.
func (t trial) membersLeftOut(in *attack.Instance, under codecs.Context) {
	f := fields.Arguments
	for _, around := range [][2]string{{"", ""}, {`{"o":`, "}"}} {
		write := func(changed string) codecs.Context {
			var b strings.Builder
			b.WriteString(`{"v":1`)
			for _, name := range leftOut {
				value := "a"
				if name == changed {
					value = "b"
				}
				fmt.Fprintf(&b, ",%q:%q", name, value)
			}
			return f.Put(under, around[0]+b.String()+"}"+around[1])
		}
		sealed := in.Seal(t.State(8), write(""))
		if sealed.Answer.Outcome != verdict.Done {
			return
		}
		contexts := make([]codecs.Context, len(leftOut))
		for i, name := range leftOut {
			contexts[i] = write(name)
		}
		for i, call := range in.UnsealEach(slices.Repeat([][]byte{sealed.Answer.Out}, len(leftOut)), contexts) {
			t.Try(confusedBy(f)...)
			if call.Answer.Outcome == verdict.Done {
				t.RefuteEach(confusedBy(f), attack.Accepted, "the member "+leftOut[i]+" of the arguments is left out", sealed, call)
			}
		}
	}
}

// loneSurrogates mints for the replacement character and presents lone surrogates. A JSON
// reader may refuse those, or break.
func (t trial) loneSurrogates(in *attack.Instance, under codecs.Context) {
	f := fields.Arguments
	sealed := in.Seal(t.State(8), f.Put(under, `{"v":"\ufffd"}`))
	if sealed.Answer.Outcome != verdict.Done {
		return
	}
	for _, lone := range []string{`{"v":"\ud800"}`, `{"v":"\udfff"}`} {
		t.Try(codecs.Unambiguous)
		if call, ok := in.AcceptsQuietly(sealed.Answer.Out, f.Put(under, lone)); ok {
			t.Refute(codecs.Unambiguous, "a lone surrogate in arguments is treated as the replacement character: "+lone, sealed, call)
		}
	}
}

// nestingDepths slightly exceed the limits of JSON readers: Newtonsoft and System.Text.Json, Ruby,
// PHP, Python.
var nestingDepths = []int{70, 130, 520, 1100}

// tooDeep mints for empty arguments and presents deeply nested ones. A reader may refuse those,
// or break. It must not treat them as the value left after an error.
func (t trial) tooDeep(in *attack.Instance, under codecs.Context) {
	f, most := fields.Arguments, slices.Max(nestingDepths)
	for _, v := range []string{"{}", "null", "[]", `""`} {
		sealed := in.Seal(t.State(8), f.Put(under, v))
		if sealed.Answer.Outcome != verdict.Done {
			continue
		}
		for _, deep := range nestingDepths {
			if deep > most {
				break // the reader broke
			}
			t.Try(confusedBy(f)...)
			call, ok := in.AcceptsQuietly(sealed.Answer.Out, f.Put(under, nestedJSON(deep, "1")))
			if call.Answer.Outcome == verdict.Fault {
				most = deep - 1
			}
			if ok {
				t.RefuteEach(confusedBy(f), attack.Accepted, fmt.Sprintf("arguments of %d levels are treated as %s", deep, v), sealed, call)
			}
		}
	}
}

// structuresIn compares whole arguments, and the same values one and two levels deeper and
// inside lists.
func (t trial) structuresIn(in *attack.Instance, under codecs.Context) {
	f := fields.Arguments
	for _, w := range slices.Concat(nonObjectTwins, structureTwins) {
		if emptyArguments[w.a] && emptyArguments[w.b] {
			t.emptyTwins(in, under, w)
			continue
		}
		t.across(in, under, f, w.a, w.b, w.how)
	}
	for _, around := range []struct{ open, end, where string }{{`{"o":`, `}`, "in an object"}, {`{"o":{"p":`, `}}`, "two objects deep"},
		{`{"o":[`, `]}`, "in a list"}, {`{"o":[[0,`, `]]}`, "in a list of a list"}, {`[`, `]`, "in a list"}} {
		for _, w := range slices.Concat(structureTwins, nonObjectTwins) {
			t.across(in, under, f, around.open+w.a+around.end, around.open+w.b+around.end, w.how+", "+around.where)
		}
	}
}

// emptyArguments are arguments that carry no value. A design that treats two of them as equal is
// ambiguous, but still binds every value.
var emptyArguments = map[string]bool{`[]`: true, `{}`: true, `null`: true, `false`: true, `""`: true, `0`: true}

func (t trial) emptyTwins(in *attack.Instance, under codecs.Context, w twin) {
	f := fields.Arguments
	t.read(in, f.Put(under, w.a), f.Put(under, w.b), w.how)
	t.read(in, f.Put(under, w.b), f.Put(under, w.a), w.how)
}

func (t trial) unicodeForms() {
	t.everyMethod(func(in *attack.Instance, under codecs.Context, f fields.Field) {
		twins := unicodeTwins
		if t.Design.Worker == nil && f.Property != codecs.BindsArguments {
			twins = slices.Concat(unicodeTwins, surrogateTwins)
		}
		t.acrossTwins(in, under, f, twins)
	})
}

func (t trial) partsOfValues() {
	t.everyMethod(func(in *attack.Instance, under codecs.Context, f fields.Field) {
		twins := partTwins
		if f.Property == codecs.BindsMethod {
			twins = slices.Concat(partTwins, methodTwins)
		}
		t.acrossTwins(in, under, f, twins)
	})
}

func (t trial) structuredNames() {
	t.everyMethod(func(in *attack.Instance, under codecs.Context, f fields.Field) {
		t.acrossTwins(in, under, f, slices.Concat(nameTwins, patternTwins))
	})
}

// acrossTwins compares the values of a field that are made from each pair of texts.
func (t trial) acrossTwins(in *attack.Instance, under codecs.Context, f fields.Field, twins []twin) {
	for _, w := range twins {
		t.across(in, under, f, f.Value(w.a), f.Value(w.b), w.how)
	}
}
