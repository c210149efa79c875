package cases

import "sealab/vectors"

// The flags. Each names the fault of an implementation that fails its tests.
const (
	// Sound marks tokens that the design sealed and must accept.
	Sound = "sound"
	// Unjudged marks sound tokens of a design whose format has no second
	// implementation here.
	Unjudged = "unjudged"

	flagField           = "edited-field"
	flagShortTag        = "short-tag"
	flagPartialTag      = "partial-tag"
	flagSplice          = "spliced"
	flagInside          = "sealed-wrong"
	flagUnauthenticated = "unauthenticated-field"
	flagAlias           = "alias-encoding"
	flagFraming         = "framing"
	flagTruncated       = "truncated"
	flagRotation        = "rotation"
	flagWrongKey        = "wrong-key"
	flagEquivalentKey   = "equivalent-key"
	flagForeign         = "foreign-token"
	flagTwoKeys         = "two-keys"
	flagClaims          = "claims-edited"
	flagDocument        = "claims-document"
	flagExpiry          = "expiry"
	flagMethod          = "binds-method"
	flagTarget          = "binds-target"
	flagArguments       = "binds-arguments"
	flagPrincipal       = "binds-principal"
	flagAudience        = "binds-audience"
	flagAmbiguous       = "unambiguous"
	flagPublishedTag    = "published-tag"

	// FlagLenient marks tokens that this design refuses and another reading of
	// the format accepts. FlagStage marks tokens that both refuse at different
	// stages.
	FlagLenient = "lenient-elsewhere"
	FlagStage   = "stage-elsewhere"
)

// Notes explains each flag.
var Notes = map[string]vectors.Note{
	Sound: {
		BugClass: "a token that the design itself sealed is refused, or its state comes back changed",
		Gain:     "none: users lose their state",
	},
	Unjudged: {
		BugClass: "no second implementation has checked these tests: the design follows the code or specification that it names",
		Gain:     "none: a difference from the original can be an error of these vectors",
	},
	flagField: {
		BugClass: "a changed field is accepted",
		Gain:     "a state of the attacker's choice, or the state of another user",
		Links:    []string{"https://github.com/fernet/spec/blob/master/Spec.md"},
	},
	flagShortTag: {
		BugClass: "the length of the tag is taken from the token",
		Gain:     "a forgery after at most 256 attempts",
		CVEs:     []string{"CVE-2009-0217"},
	},
	flagPartialTag: {
		BugClass: "only a part of the tag is compared",
		Gain:     "a forgery after as many attempts as the compared part has values",
		Links:    []string{"https://github.com/C2SP/wycheproof/blob/main/doc/formats.md"},
	},
	flagSplice: {
		BugClass: "a combination of parts of two valid tokens is accepted",
		Gain:     "the state of one token in the context of another",
	},
	flagInside: {
		BugClass: "an authentic token that only a holder of the key can make is accepted or refused against the rules of the format",
		Gain:     "implementations disagree: a token minted by one server is read differently or refused by another",
	},
	flagUnauthenticated: {
		BugClass: "a field on the wire is not covered by the tag",
		Gain:     "format, version or key of a token can be changed in transit",
		CVEs:     []string{"CVE-2015-9235"},
	},
	flagAlias: {
		BugClass: "the decoder of the text encoding accepts more than one encoding",
		Gain:     "other encodings of a token, which bypass replay caches and revocation lists keyed on its text",
		Links:    []string{"https://www.rfc-editor.org/rfc/rfc4648#section-3.5", "https://github.com/golang-jwt/jwt/pull/259"},
	},
	flagFraming: {
		BugClass: "prefix, separators or segments are parsed leniently",
		Gain:     "other encodings of a token, tokens of another version, or two parsers that read different payloads",
		CVEs:     []string{"CVE-2022-39227", "CVE-2025-30204"},
	},
	flagTruncated: {
		BugClass: "a truncated token is accepted, or crashes the reader",
		Gain:     "a shortened state, or a denial of service",
	},
	flagRotation: {
		BugClass: "a key in the ring does not open its tokens, or a key outside the ring does",
		Gain:     "tokens that stay valid after their key was removed",
	},
	flagWrongKey: {
		BugClass: "a token opens under a key that did not seal it",
		Gain:     "forgery by anyone who knows any key",
		CVEs:     []string{"CVE-2016-10555"},
	},
	flagEquivalentKey: {
		BugClass: "two different secrets give the same key, because HMAC pads short keys with zeros and hashes long ones",
		Gain:     "tokens of one server are accepted by a server with a different secret",
		Links:    []string{"https://eprint.iacr.org/2013/382"},
	},
	flagForeign: {
		BugClass: "a token of another format under the same secret is accepted",
		Gain:     "state that was sealed for one purpose is used for another",
		Links:    []string{"https://www.rfc-editor.org/rfc/rfc8725#section-2.8"},
	},
	flagTwoKeys: {
		BugClass: "one ciphertext is authentic under two keys: the tag does not commit to the key",
		Gain:     "two servers read different payloads from one token; a token can test many guessed keys at once",
		Links:    []string{"https://eprint.iacr.org/2019/016", "https://eprint.iacr.org/2020/1491"},
		CVEs:     []string{"CVE-2020-8897", "CVE-2020-8912"},
	},
	flagClaims: {
		BugClass: "authentic claims of a wrong type, value, number or encoding are accepted or refused against the rules of the format",
		Gain:     "tokens without expiry or context, if a server with another implementation can be made to mint them",
		CVEs:     []string{"CVE-2020-16250"},
	},
	flagDocument: {
		BugClass: "authentic claims that are not one JSON object in UTF-8 are accepted or refused against the rules of the format",
		Gain:     "two readers of one token read different documents; deep nesting crashes a reader",
	},
	flagExpiry: {
		BugClass: "the expiry is compared in a wrong unit, at a wrong boundary, or not at all",
		Gain:     "a token that is accepted after its expiry",
		Links:    []string{"https://www.rfc-editor.org/rfc/rfc7519#section-4.1.4"},
	},
	flagMethod: {
		BugClass: "the method is not bound", Gain: "state from one kind of request is used in another",
	},
	flagTarget: {
		BugClass: "the tool, prompt or resource is not bound", Gain: "state from one tool is used in another",
	},
	flagArguments: {
		BugClass: "the arguments are not bound, or different arguments have the same digest",
		Gain:     "a consent to some arguments is used for other arguments",
	},
	flagPrincipal: {
		BugClass: "the principal is not bound, or only a part or a normalized form of it is compared",
		Gain:     "one user's state is used by another",
		CVEs:     []string{"CVE-2024-53861"},
	},
	flagAudience: {
		BugClass: "the audience is not bound, or an absent audience matches every audience",
		Gain:     "a token for one server is used at another",
		CVEs:     []string{"CVE-2020-26160"},
	},
	flagAmbiguous: {
		BugClass: "fields are joined ambiguously: two contexts give the same bytes",
		Gain:     "state from one context is used in another that the attacker can choose",
	},
	flagPublishedTag: {
		BugClass: "a readable claim is computed with the key of the tag",
		Gain:     "any state and any expiry, for anyone who can authenticate once under a name of their choice",
	},
	FlagLenient: {
		BugClass: "readings of one format disagree; the member readings names those that accept",
		Gain:     "depends on the reading: mostly other encodings of one token",
	},
	FlagStage: {
		BugClass: "readings of one format refuse a token at different stages",
		Gain:     "none",
	},
}
