// Package cve rediscovers known vulnerabilities of token libraries. Each [Case] is a published
// vulnerability, with the last version that has it and the first version without it. Both
// versions are attacked as workers. The vulnerable version must be refuted, and the fixed
// version must not be.
//
// [Install] installs each version into its own folder below bin/cve, by the hashes in locks.
// The shims are those of codecs/sdk.
package cve

import "sealab/codecs"

// A Case is a vulnerability of a version of a library.
type Case struct {
	CVE       string
	Source    string // URL of the description and the affected versions
	Ecosystem string // PyPI, npm, Maven or Go
	Library   string
	// Vulnerable is a version with the fault. Fixed is the first version without it, or "".
	Vulnerable, Fixed string
	With              []string // further packages, as name==version (PyPI) or group:name:version (Maven)
	Row               string   // row of the shim
	Property          codecs.Property
	Attack            string // ID of the attack for this class of fault
	Fault             string
	Note              string // the reason if the fixed version is refuted too, or the vulnerable one is not
}

// Cases returns the vulnerabilities that a token can trigger.
func Cases() []Case {
	const nvd = "https://nvd.nist.gov/vuln/detail/"
	all := []Case{
		{CVE: "CVE-2022-29217", Ecosystem: "PyPI", Library: "pyjwt", Vulnerable: "2.3.0", Fixed: "2.4.0", Row: "pyjwt-eddsa",
			Property: codecs.Integrity, Attack: "KEY-01", Fault: "an OpenSSH public key is taken as an HMAC secret"},
		{CVE: "CVE-2026-48526", Ecosystem: "PyPI", Library: "pyjwt", Vulnerable: "2.12.0", Fixed: "2.13.0", Row: "pyjwt-jwk",
			Property: codecs.Integrity, Attack: "KEY-01", Fault: "a public JWK is taken as an HMAC secret"},
		{CVE: "CVE-2024-33663", Ecosystem: "PyPI", Library: "python-jose", Vulnerable: "3.3.0", Fixed: "3.4.0", Row: "python-jose-es256",
			Property: codecs.Integrity, Attack: "KEY-01", Fault: "an OpenSSH public key is taken as an HMAC secret"},
		{CVE: "CVE-2024-37568", Ecosystem: "PyPI", Library: "authlib", Vulnerable: "1.3.0", Fixed: "1.3.1", Row: "authlib-es256",
			Property: codecs.Integrity, Attack: "KEY-01", Fault: "a public key is taken as an HMAC secret"},
		{CVE: "CVE-2025-62706", Ecosystem: "PyPI", Library: "authlib", Vulnerable: "1.6.4", Fixed: "1.6.5", Row: "authlib-zip",
			Property: codecs.Total, Attack: "PAY-04", Fault: "decompression without a limit"},
		{CVE: "CVE-2026-28802", Ecosystem: "PyPI", Library: "authlib", Vulnerable: "1.6.6", Fixed: "1.6.7", Row: "authlib-default",
			Property: codecs.Integrity, Attack: "JOS-01", Fault: "the algorithm none is accepted by default"},
		{CVE: "CVE-2026-27962", Ecosystem: "PyPI", Library: "authlib", Vulnerable: "1.6.8", Fixed: "1.6.9", Row: "authlib-kid",
			Property: codecs.Integrity, Attack: "JOS-02", Fault: "the key in the header is used if the server has none"},
		{CVE: "CVE-2023-6681", Ecosystem: "PyPI", Library: "jwcrypto", Vulnerable: "1.5.0", Fixed: "1.5.1", With: []string{"deprecated==1.2.18", "wrapt==1.17.3"}, Row: "jwcrypto-pbes2",
			Property: codecs.Inert, Attack: "RES-12", Fault: "the count of PBKDF2 is read from the token"},
		{CVE: "CVE-2024-28102", Ecosystem: "PyPI", Library: "jwcrypto", Vulnerable: "1.5.5", Fixed: "1.5.6", Row: "jwcrypto-zip",
			Property: codecs.Total, Attack: "PAY-04", Fault: "decompression without a limit",
			Note: "the fixed version bounds the compressed text at 250 KiB, which may hold 250 MiB: both fall"},
		{CVE: "CVE-2022-39227", Ecosystem: "PyPI", Library: "python-jwt", Vulnerable: "3.3.3", Fixed: "3.3.4", Row: "python-jwt",
			Property: codecs.Integrity, Attack: "JOS-04", Fault: "one reader takes the compact form, the other the JSON form"},
		{CVE: "CVE-2015-9235", Ecosystem: "npm", Library: "jsonwebtoken", Vulnerable: "4.1.0", Fixed: "4.2.2", Row: "jsonwebtoken-es256",
			Property: codecs.Integrity, Attack: "KEY-01", Fault: "the token chooses the algorithm that reads the public key"},
		{CVE: "CVE-2022-23540", Ecosystem: "npm", Library: "jsonwebtoken", Vulnerable: "8.5.1", Fixed: "9.0.0", Row: "jsonwebtoken-kid",
			Property: codecs.Integrity, Attack: "JOS-01", Fault: "the algorithm none is accepted if the key is missing"},
		{CVE: "CVE-2016-10555", Ecosystem: "npm", Library: "jwt-simple", Vulnerable: "0.5.2", Fixed: "0.5.3", Row: "jwt-simple-rs256",
			Property: codecs.Integrity, Attack: "KEY-01", Fault: "the token chooses the algorithm that reads the public key"},
		{CVE: "CVE-2023-48223", Ecosystem: "npm", Library: "fast-jwt", Vulnerable: "3.3.1", Fixed: "3.3.2", Row: "fast-jwt-pkcs1",
			Property: codecs.Integrity, Attack: "KEY-01", Fault: "a public key in PKCS #1 is taken as an HMAC secret"},
		{CVE: "CVE-2026-34950", Ecosystem: "npm", Library: "fast-jwt", Vulnerable: "6.1.0", Fixed: "6.2.0", Row: "fast-jwt-space",
			Property: codecs.Integrity, Attack: "KEY-01", Fault: "a public key after white space is taken as an HMAC secret"},
		{CVE: "CVE-2023-48238", Ecosystem: "npm", Library: "json-web-token", Vulnerable: "3.1.1", Row: "json-web-token-rs256",
			Property: codecs.Integrity, Attack: "KEY-01", Fault: "the token chooses the algorithm that reads the public key"},
		{CVE: "CVE-2016-1000223", Ecosystem: "npm", Library: "jws", Vulnerable: "2.0.0", Fixed: "3.0.0", Row: "jws-es256",
			Property: codecs.Integrity, Attack: "KEY-01", Fault: "the token chooses the algorithm that reads the public key"},
		{CVE: "CVE-2022-25898", Ecosystem: "npm", Library: "jsrsasign", Vulnerable: "10.5.24", Fixed: "10.5.25", Row: "jsrsasign-es256",
			Property: codecs.Canonical, Attack: "ENC-06", Fault: "characters outside base64url are skipped in a signature"},
		{CVE: "CVE-2022-36083", Ecosystem: "npm", Library: "jose", Vulnerable: "4.9.1", Fixed: "4.9.2", Row: "jose-pbes2",
			Property: codecs.Inert, Attack: "RES-12", Fault: "the count of PBKDF2 is read from the token"},
		{CVE: "CVE-2024-28176", Ecosystem: "npm", Library: "jose", Vulnerable: "4.15.4", Fixed: "4.15.5", Row: "jose-zip",
			Property: codecs.Total, Attack: "PAY-04", Fault: "decompression without a limit"},
		{CVE: "CVE-2018-0114", Ecosystem: "npm", Library: "node-jose", Vulnerable: "0.10.0", Fixed: "0.11.0", Row: "node-jose-keystore",
			Property: codecs.Integrity, Attack: "JOS-02", Fault: "the key in the header is used if the server has none"},
		{CVE: "CVE-2023-52428", Ecosystem: "Maven", Library: "com.nimbusds:nimbus-jose-jwt", Vulnerable: "9.37.1", Fixed: "9.37.2", Row: "nimbus-pbes2",
			Property: codecs.Inert, Attack: "RES-12", Fault: "the count of PBKDF2 is read from the token"},
		{CVE: "CVE-2023-51775", Ecosystem: "Maven", Library: "org.bitbucket.b_c:jose4j", Vulnerable: "0.9.3", Fixed: "0.9.4", Row: "jose4j-pbes2",
			Property: codecs.Inert, Attack: "RES-12", Fault: "the count of PBKDF2 is read from the token",
			Note: "the fixed version takes a count of 1,000,000, which RES-12 finds in both"},
		{CVE: "CVE-2024-29371", Ecosystem: "Maven", Library: "org.bitbucket.b_c:jose4j", Vulnerable: "0.9.5", Fixed: "0.9.6", Row: "jose4j-zip",
			Property: codecs.Total, Attack: "PAY-04", Fault: "decompression without a limit"},
		{CVE: "CVE-2020-8929", Ecosystem: "Maven", Library: "com.google.crypto.tink:tink", Vulnerable: "1.4.0", Fixed: "1.5.0", Row: "tink-aead",
			With:     []string{"com.google.protobuf:protobuf-java:3.11.4", "org.json:json:20240303"},
			Property: codecs.Integrity, Attack: "FRM-07", Fault: "other bytes in the key ID name the same key"},
		{CVE: "CVE-2025-30204", Ecosystem: "Go", Library: "golang-jwt", Vulnerable: "5.2.1", Fixed: "5.2.2", Row: "jwt",
			Property: codecs.Inert, Attack: "RES-11", Fault: "memory for each dot of a text"},
		{CVE: "CVE-2025-27144", Ecosystem: "Go", Library: "go-jose", Vulnerable: "4.0.4", Fixed: "4.0.5", Row: "jose",
			Property: codecs.Inert, Attack: "RES-11", Fault: "memory for each dot of a text"},
		{CVE: "CVE-2024-28180", Ecosystem: "Go", Library: "go-jose-zip", Vulnerable: "4.0.0", Fixed: "4.0.1", Row: "josezip",
			Property: codecs.Total, Attack: "PAY-04", Fault: "decompression without a limit"},
		{CVE: "CVE-2024-21664", Ecosystem: "Go", Library: "jwx", Vulnerable: "2.0.18", Fixed: "2.0.19", Row: "jwx",
			Property: codecs.Total, Attack: "JOS-03", Fault: "the JSON form without a protected header is a nil pointer"},
		{CVE: "CVE-2023-49290", Ecosystem: "Go", Library: "jwx-pbes2", Vulnerable: "2.0.17", Fixed: "2.0.18", Row: "jwxpbes2",
			Property: codecs.Inert, Attack: "RES-12", Fault: "the count of PBKDF2 is read from the token"},
	}
	for i := range all {
		all[i].Source = nvd + all[i].CVE
	}
	return all
}

// An Excluded is a vulnerability that is not part of the benchmark.
type Excluded struct{ CVE, Library, Reason string }

// OutOfScope returns the vulnerabilities that no token can trigger here, with the reason.
func OutOfScope() []Excluded {
	return []Excluded{
		{"CVE-2016-1000236", "npm cookie-signature < 1.0.4", "the comparison leaks time, and every answer is right; sealab leak judges time"},
		{"CVE-2021-29443", "npm jose < 1.28.1", "a padding oracle by time alone: both faults give one error"},
		{"CVE-2022-21449", "Java 15 to 18", "a fault of the runtime, which a library cannot choose: this machine has a later one"},
		{"CVE-2016-4437", "Maven shiro-core < 1.2.5", "a published default key and deserialization: a configuration of the server"},
		{"CVE-2019-5420", "Rails < 5.2.2.1", "the key of the development mode can be guessed: a configuration of the server"},
		{"CVE-2018-15133", "Laravel < 5.6.30", "unserialize behind a leaked key: the attacker has the key"},
		{"CVE-2023-27524", "PyPI apache-superset", "a published default key: a configuration of the server"},
		{"CVE-2023-48309", "npm next-auth < 4.24.5", "a token of another purpose, which only a running login flow issues"},
		{"CVE-2020-26160", "Go dgrijalva/jwt-go < 4", "a claim that the application compares, outside of opening a token"},
		{"CVE-2025-59420", "PyPI authlib < 1.6.4", "an unknown critical header is ignored in a token that the holder of the key made"},
		{"CVE-2026-32597", "PyPI pyjwt < 2.12.0", "an unknown critical header is ignored in a token that the holder of the key made"},
		{"CVE-2024-33664", "PyPI python-jose < 3.4.0", "its JWE needs an interface of OpenSSL that current builds of cryptography no longer have"},
		{"CVE-2026-40372", "NuGet Microsoft.AspNetCore.DataProtection 10.0.0 to 10.0.6", "no .NET runtime here"},
		{"CVE-2021-41106", "PHP lcobucci/jwt", "a file name is taken for a key: a call of the server, not a token"},
	}
}
