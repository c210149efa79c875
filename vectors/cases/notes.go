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
		BugClass: "a token that its own design sealed is refused, or comes back changed",
		Gain:     "nothing: users lose their state",
	},
	Unjudged: {
		BugClass: "not judged by a second implementation: the design follows the code or specification that it names",
		Gain:     "none: a difference from the original can be an error of these vectors",
	},
	flagField: {
		BugClass: "a changed field is not noticed",
		Gain:     "state of the attacker's choice, or another user's",
		Links:    []string{"https://github.com/fernet/spec/blob/master/Spec.md"},
	},
	flagShortTag: {
		BugClass: "the length of the tag is taken from the token",
		Gain:     "a forgery in 256 tries, or none",
		CVEs:     []string{"CVE-2009-0217"},
	},
	flagPartialTag: {
		BugClass: "the tag is compared in part",
		Gain:     "a forgery in as many tries as the compared part has values",
		Links:    []string{"https://github.com/C2SP/wycheproof/blob/main/doc/formats.md"},
	},
	flagSplice: {
		BugClass: "parts of two sound tokens are accepted as one",
		Gain:     "one token's state in another one's context",
	},
	flagInside: {
		BugClass: "a token that only a holder of the key can make is judged otherwise than the format says",
		Gain:     "implementations disagree: what one server minted another reads differently or loses",
	},
	flagUnauthenticated: {
		BugClass: "a field on the wire is not covered by the tag",
		Gain:     "format, version or key of a token can be changed in transit",
		CVEs:     []string{"CVE-2015-9235"},
	},
	flagAlias: {
		BugClass: "the text encoding is decoded leniently",
		Gain:     "further spellings of a token: replay caches and revocation lists keyed on its text are passed",
		Links:    []string{"https://www.rfc-editor.org/rfc/rfc4648#section-3.5", "https://github.com/golang-jwt/jwt/pull/259"},
	},
	flagFraming: {
		BugClass: "prefix, separators or segments are parsed leniently",
		Gain:     "further spellings, tokens of another version, or two parsers that see two payloads",
		CVEs:     []string{"CVE-2022-39227", "CVE-2025-30204"},
	},
	flagTruncated: {
		BugClass: "a token that was cut short is accepted, or kills the reader",
		Gain:     "a shortened state, or a denial of service",
	},
	flagRotation: {
		BugClass: "the ring is not honoured: a key that is in it does not open, or one that is not does",
		Gain:     "tokens that live on after their key was withdrawn",
	},
	flagWrongKey: {
		BugClass: "a token opens under a key that did not seal it",
		Gain:     "forgery by whoever knows any key",
		CVEs:     []string{"CVE-2016-10555"},
	},
	flagEquivalentKey: {
		BugClass: "two different secrets are one key, because HMAC pads short keys with zeros and hashes long ones",
		Gain:     "tokens cross between servers that were given different secrets",
		Links:    []string{"https://eprint.iacr.org/2013/382"},
	},
	flagForeign: {
		BugClass: "a token of another format under the same secret is accepted",
		Gain:     "state that was sealed for one purpose is used for another",
		Links:    []string{"https://www.rfc-editor.org/rfc/rfc8725#section-2.8"},
	},
	flagTwoKeys: {
		BugClass: "one ciphertext is authentic under two keys: the tag does not commit to the key",
		Gain:     "one token means two things to two servers; a ring can be searched for a key by trying many at once",
		Links:    []string{"https://eprint.iacr.org/2019/016", "https://eprint.iacr.org/2020/1491"},
		CVEs:     []string{"CVE-2020-8897", "CVE-2020-8912"},
	},
	flagClaims: {
		BugClass: "authentic claims of a wrong type, value, number or spelling are judged otherwise than the format says",
		Gain:     "tokens without expiry or context where a server of another implementation can be made to mint them",
		CVEs:     []string{"CVE-2020-16250"},
	},
	flagDocument: {
		BugClass: "authentic claims that are not one JSON object in UTF-8 are judged otherwise than the format says",
		Gain:     "two readers of one token see two documents; deep nesting kills a reader",
	},
	flagExpiry: {
		BugClass: "the time is compared in another unit, at another boundary, or not at all",
		Gain:     "a token that outlives its time",
		Links:    []string{"https://www.rfc-editor.org/rfc/rfc7519#section-4.1.4"},
	},
	flagMethod: {
		BugClass: "the method is not bound", Gain: "state from one kind of request is used in another",
	},
	flagTarget: {
		BugClass: "the tool, prompt or resource is not bound", Gain: "state from one tool is used in another",
	},
	flagArguments: {
		BugClass: "the arguments are not bound, or other ones have the same digest",
		Gain:     "consent that was given for some arguments is used for others",
	},
	flagPrincipal: {
		BugClass: "the principal is not bound, or is compared in part or after a change of form",
		Gain:     "one user's state is used by another",
		CVEs:     []string{"CVE-2024-53861"},
	},
	flagAudience: {
		BugClass: "the audience is not bound, or absent counts as any",
		Gain:     "a token for one server is used at another",
		CVEs:     []string{"CVE-2020-26160"},
	},
	flagAmbiguous: {
		BugClass: "fields are joined so that two contexts give the same bytes",
		Gain:     "state from one context is used in another that the attacker can shape",
	},
	flagPublishedTag: {
		BugClass: "a claim that everybody can read was made with the key that makes the tag",
		Gain:     "any state and any expiry, for whoever can be authenticated once under a name of their choice",
	},
	FlagLenient: {
		BugClass: "readings of one format disagree: readings names those that accept",
		Gain:     "what each of them allows: mostly further spellings of one token",
	},
	FlagStage: {
		BugClass: "readings of one format refuse at different stages",
		Gain:     "nothing",
	},
}
