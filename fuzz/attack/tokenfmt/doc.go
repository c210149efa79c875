// Package tokenfmt infers the format of opaque tokens from their text, and makes altered
// tokens.
//
// [Infer] splits a token into segments: each is a word, or bytes in a text encoding
// (hexadecimal, base32 or base64, RFC 4648). A format is inferred from several tokens. One
// token alone does not show whether it begins with a version or with random letters that look
// like one:
//
//	f := tokenfmt.Infer(token, reference1, reference2)
//	for _, g := range tokenfmt.Generators {
//		for a := range g.Alter(f, source) { present(a.Text) }
//	}
//
// A [Generator] enumerates the alterations of one kind. A sound reader refuses all of them,
// except an alteration whose text equals that of the token. [Format.Layouts] reads a token as a
// body with a tag, and [Format.Recognize] determines how the token was made under a known key.
// [Readings] returns everything that can be read from a token without a key.
//
// All functions are pure. Random choices are drawn from a [Source].
//
// Limitations: a segment of fewer than 8 characters counts as a word, unless it has the same
// length in three or more tokens and differs in all of them. Only [BinaryForms] parses binary
// structure inside a segment (ASN.1, CBOR, Protocol Buffers), and only the heads of values.
package tokenfmt
