//! The crates, as schemes of the worker protocol.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use base64::{engine::general_purpose::URL_SAFE_NO_PAD, Engine};
use serde_json::{json, Map, Value};
#[cfg(feature = "ring")]
use sha2::{Digest, Sha256};

use crate::text;

/// A failure is everything but success.
pub enum Failure {
    Unsupported,
    Rejected(&'static str, &'static str),
    Fault(String),
}

/// A Binding is the context of a request, as far as the crates can be told of it.
pub struct Binding {
    pub method: String,
    pub target: String,
    pub principal: Option<String>,
}

/// A Scheme mints and verifies tokens under one configuration.
pub trait Scheme {
    fn mint(&self, state: &[u8], binding: &Binding) -> Result<String, Failure>;
    fn verify(&self, token: &str, binding: &Binding) -> Result<Vec<u8>, Failure>;
}

/// A Config opens an implementation. Options are complete.
pub struct Config {
    pub keys: Vec<Vec<u8>>,
    pub ttl: Duration,
    pub options: Map<String, Value>,
}

impl Config {
    pub fn option(&self, name: &str) -> &str {
        self.options.get(name).and_then(Value::as_str).unwrap_or("")
    }

    pub fn only_key(&self) -> Result<&[u8], String> {
        match self.keys.as_slice() {
            [key] => Ok(key),
            keys => Err(format!("got {} keys, want 1", keys.len())),
        }
    }
}

/// An Implementation is one row of the table: a format of a crate.
pub struct Implementation {
    pub name: &'static str,
    pub version: &'static str,
    /// A scheme, or a codec, which gets no time.
    pub scheme: bool,
    /// Each option with its values, of which the first is the default.
    pub options: &'static [(&'static str, &'static [&'static str])],
    /// The properties that the format has, and of the others none.
    pub holds: &'static [&'static str],
    pub open: fn(&Config) -> Result<Box<dyn Scheme>, String>,
}

const BIND: (&str, &[&str]) = ("bind", &["none", "docs"]);
const EXPIRY: (&str, &[&str]) = ("expiry", &["ttl", "never"]);
#[cfg(feature = "tower")]
const PAYLOAD: (&str, &[&str]) = ("payload", &["text", "json"]);
#[cfg(feature = "tower")]
const LIMIT: (&str, &[&str]) = ("limit", &["64KiB", "none"]);

#[cfg(feature = "libs")]
const SIGNED_STRICT: &[&str] = &["integrity", "canonical", "total", "byte-exact", "inert", "private-keys", "nonce-misuse-resistant"];
#[cfg(feature = "libs")]
const SEALED_STRICT: &[&str] = &["integrity", "canonical", "total", "byte-exact", "inert", "private-keys", "confidentiality", "fresh-nonces"];

#[cfg(feature = "libs")]
const fn library(
    name: &'static str, version: &'static str, scheme: bool, holds: &'static [&'static str], open: fn(&Config) -> Result<Box<dyn Scheme>, String>,
) -> Implementation {
    Implementation { name, version, scheme, options: &[], holds, open }
}

pub const TABLE: &[Implementation] = &[
    Implementation {
        name: "rmcp-rs1-sdk",
        version: "3.9.0",
        scheme: true,
        options: &[BIND, EXPIRY],
        holds: &[
            "integrity", "canonical", "uniform-refusal", "steady-timing", "total", "inert", "byte-exact",
            "nonce-misuse-resistant", "unlinkable", "private-keys", "strong-keys",
        ],
        open: open_rs1,
    },
    #[cfg(feature = "ring")]
    Implementation {
        name: "rmcp-rs2-sdk",
        version: "3.9.0",
        scheme: true,
        options: &[BIND, EXPIRY, ("kid", &["derived", "numbered"]), ("rs1", &["refused", "fallback"])],
        holds: &[
            "integrity", "canonical", "uniform-refusal", "steady-timing", "total", "inert", "byte-exact",
            "nonce-misuse-resistant", "unlinkable", "rotation",
        ],
        open: open_rs2,
    },
    #[cfg(feature = "tower")]
    Implementation {
        name: "tower-mcp-v1-sdk",
        version: "0.22.2",
        scheme: true,
        options: &[PAYLOAD, LIMIT],
        holds: &[
            "integrity", "canonical", "uniform-refusal", "steady-timing", "total", "inert", "byte-exact",
            "nonce-misuse-resistant", "binds-principal", "private-keys", "strong-keys",
        ],
        open: crate::tower::open_tower_v1,
    },
    #[cfg(feature = "tower")]
    Implementation {
        name: "tower-mcp-v2-sdk",
        version: "0.25.0",
        scheme: true,
        options: &[PAYLOAD, LIMIT],
        holds: &[
            "integrity", "canonical", "uniform-refusal", "steady-timing", "total", "inert", "byte-exact",
            "nonce-misuse-resistant", "binds-principal", "rotation",
        ],
        open: crate::tower::open_tower_v2,
    },
    #[cfg(feature = "libs")]
    library("rs-jsonwebtoken", "11.1.0", false, SIGNED_STRICT, crate::libs::jsonwebtoken),
    #[cfg(feature = "libs")]
    library("rs-pasetors-v4", "0.8.1", false, &["integrity", "total", "byte-exact", "inert", "private-keys", "confidentiality", "fresh-nonces", "key-committing"], crate::libs::pasetors),
    // Base62 takes time quadratic in the length of a token.
    #[cfg(feature = "libs")]
    library("rs-branca", "0.10.2", true, &["integrity", "canonical", "byte-exact", "inert", "private-keys", "confidentiality", "fresh-nonces", "unlinkable"], crate::libs::branca),
    #[cfg(feature = "libs")]
    library("rs-fernet", "0.2.2", true, &["integrity", "total", "byte-exact", "inert", "private-keys", "confidentiality", "fresh-nonces", "unlinkable", "rotation", "uniform-refusal"], crate::libs::fernet),
    #[cfg(feature = "libs")]
    library("rs-cookie-private", "0.18.2", false, SEALED_STRICT, crate::libs::cookie_private),
    #[cfg(feature = "libs")]
    library("rs-cookie-signed", "0.18.2", false, SIGNED_STRICT, crate::libs::cookie_signed),
    #[cfg(feature = "openssl")]
    library("rs-josekit-jwe", "0.10.3", false, &["integrity", "byte-exact", "inert", "private-keys", "confidentiality", "fresh-nonces"], crate::libs::josekit),
];

struct Rmcp {
    codec: rmcp::model::RequestStateCodec,
    ttl: Option<Duration>,
    documented: bool,
}

fn open_rs1(config: &Config) -> Result<Box<dyn Scheme>, String> {
    Ok(Box::new(Rmcp::new(one_key(config.only_key()?)?, config)))
}

#[cfg(feature = "ring")]
fn one_key(key: &[u8]) -> Result<rmcp::model::RequestStateCodec, String> {
    rmcp::model::RequestStateCodec::try_new(key).map_err(|e| e.to_string())
}

/// Until 3.1.3 a key has any length.
#[cfg(not(feature = "ring"))]
#[allow(deprecated)]
fn one_key(key: &[u8]) -> Result<rmcp::model::RequestStateCodec, String> {
    Ok(rmcp::model::RequestStateCodec::new(key))
}

#[cfg(feature = "ring")]
fn open_rs2(config: &Config) -> Result<Box<dyn Scheme>, String> {
    let numbered = config.option("kid") == "numbered";
    let ids: Vec<String> = config.keys.iter().enumerate().map(|(i, key)| key_id(key, i, numbered)).collect();
    let active = ids.first().ok_or("the ring is empty")?.clone();
    let ring = ids.iter().cloned().zip(config.keys.iter().cloned());
    let mut codec = rmcp::model::RequestStateCodec::new_with_keyring(active, ring).map_err(|e| e.to_string())?;
    if config.option("rs1") == "fallback" {
        for id in &ids {
            codec = codec.with_rs1_fallback(id).map_err(|e| e.to_string())?;
        }
    }
    Ok(Box::new(Rmcp::new(codec, config)))
}

#[cfg(feature = "ring")]
/// Returns the key ID that an operator gives a key of the ring.
fn key_id(key: &[u8], place: usize, numbered: bool) -> String {
    if numbered {
        return format!("k{}", place + 1);
    }
    let sum = Sha256::new().chain_update("sealab/rmcp key ID").chain_update(key).finalize();
    sum.iter().take(8).map(|byte| format!("{byte:02x}")).collect()
}

impl Rmcp {
    fn new(codec: rmcp::model::RequestStateCodec, config: &Config) -> Self {
        let ttl = (config.option("expiry") == "ttl").then_some(config.ttl);
        Rmcp { codec, ttl, documented: config.option("bind") == "docs" }
    }

    /// The associated data: none, or the text that the crate's documentation builds.
    fn data(&self, b: &Binding) -> Vec<u8> {
        if !self.documented {
            return Vec::new();
        }
        let user = b.principal.as_deref().unwrap_or("");
        text::bytes_of(&format!("user:{user}|{}:{}", b.method, b.target))
    }
}

/// Fails at times before 1970, at which rmcp panics.
fn from_1970() -> Result<(), Failure> {
    SystemTime::now().duration_since(UNIX_EPOCH).map(|_| ()).map_err(|_| Failure::Unsupported)
}

impl Scheme for Rmcp {
    fn mint(&self, state: &[u8], binding: &Binding) -> Result<String, Failure> {
        from_1970()?;
        let data = self.data(binding);
        let mut options = rmcp::model::SealOptions::new().associated_data(&data);
        if let Some(ttl) = self.ttl {
            options = options.ttl(ttl);
        }
        Ok(self.codec.seal_with(state, &options))
    }

    fn verify(&self, token: &str, binding: &Binding) -> Result<Vec<u8>, Failure> {
        use rmcp::model::RequestStateError::*;
        from_1970()?;
        self.codec.open_with(token, &self.data(binding)).map_err(|error| match error {
            MalformedFormat => Failure::Rejected("malformed", "MalformedFormat"),
            InvalidEncoding => Failure::Rejected("malformed", "InvalidEncoding"),
            #[cfg(feature = "ring")]
            InvalidKeyId => Failure::Rejected("malformed", "InvalidKeyId"),
            #[cfg(feature = "ring")]
            UnknownKeyId => Failure::Rejected("unknown-key", "UnknownKeyId"),
            IntegrityCheckFailed => Failure::Rejected("unauthentic", "IntegrityCheckFailed"),
            Expired => Failure::Rejected("expired", "Expired"),
            other => Failure::Fault(other.to_string()),
        })
    }
}

/// Decodes a field of bytes.
pub fn bytes(text: &str) -> Result<Vec<u8>, Failure> {
    URL_SAFE_NO_PAD.decode(text).map_err(|e| Failure::Fault(e.to_string()))
}

/// Encodes a field of bytes.
pub fn field(bytes: &[u8]) -> Value {
    json!(URL_SAFE_NO_PAD.encode(bytes))
}
