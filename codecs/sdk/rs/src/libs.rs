//! Token crates of web frameworks, a row of a few lines each.
//!
//! A row opens a pair for a key: seal takes a payload and returns a token, open takes a
//! token and returns the payload, or the name of the error. A crate that takes text gets
//! a payload as the text of the same bytes in Latin-1.

use std::time::Duration;

use base64::{engine::general_purpose::URL_SAFE_NO_PAD, Engine};
use sha2::{Digest, Sha512};

use crate::schemes::{Binding, Config, Failure, Scheme};

type Answer<T> = Result<T, &'static str>;

/// A pair of functions over one key.
struct Pair {
    seal: Box<dyn Fn(&[u8]) -> Answer<String>>,
    open: Box<dyn Fn(&str) -> Answer<Vec<u8>>>,
}

impl Scheme for Pair {
    fn mint(&self, state: &[u8], _: &Binding) -> Result<String, Failure> {
        (self.seal)(state).map_err(|error| Failure::Fault(error.to_string()))
    }

    fn verify(&self, token: &str, _: &Binding) -> Result<Vec<u8>, Failure> {
        (self.open)(token).map_err(|error| Failure::Rejected("unauthentic", error))
    }
}

fn pair(
    seal: impl Fn(&[u8]) -> Answer<String> + 'static,
    open: impl Fn(&str) -> Answer<Vec<u8>> + 'static,
) -> Result<Box<dyn Scheme>, String> {
    Ok(Box::new(Pair { seal: Box::new(seal), open: Box::new(open) }))
}

fn sized(config: &Config) -> Result<[u8; 32], String> {
    let key = config.only_key()?;
    key.try_into().map_err(|_| format!("got a key of {} bytes, want 32", key.len()))
}

fn text(payload: &[u8]) -> String {
    payload.iter().map(|byte| *byte as char).collect()
}

fn bytes(state: &str) -> Answer<Vec<u8>> {
    state.chars().map(|c| u8::try_from(c as u32).map_err(|_| "state")).collect()
}

pub fn jsonwebtoken(config: &Config) -> Result<Box<dyn Scheme>, String> {
    use jsonwebtoken::{decode, encode, Algorithm, DecodingKey, EncodingKey, Header, Validation};

    let (sealing, opening) = (EncodingKey::from_secret(config.only_key()?), DecodingKey::from_secret(config.only_key()?));
    let mut rules = Validation::new(Algorithm::HS256);
    rules.required_spec_claims.clear();
    rules.validate_exp = false;
    pair(
        move |payload| encode(&Header::default(), &serde_json::json!({"state": text(payload)}), &sealing).map_err(|_| "encode"),
        move |token| {
            let opened = decode::<serde_json::Value>(token, &opening, &rules).map_err(|error| match error.kind() {
                jsonwebtoken::errors::ErrorKind::InvalidToken => "InvalidToken",
                jsonwebtoken::errors::ErrorKind::InvalidSignature => "InvalidSignature",
                jsonwebtoken::errors::ErrorKind::Base64(_) => "Base64",
                jsonwebtoken::errors::ErrorKind::Json(_) => "Json",
                _ => "other",
            })?;
            bytes(opened.claims["state"].as_str().ok_or("state")?)
        },
    )
}

pub fn pasetors(config: &Config) -> Result<Box<dyn Scheme>, String> {
    use pasetors::{keys::SymmetricKey, token::UntrustedToken, version4::{LocalToken, V4}, Local};

    let sealing = SymmetricKey::<V4>::from(&sized(config)?).map_err(|e| e.to_string())?;
    let opening = sealing.clone();
    // The crate refuses an empty payload.
    pair(
        move |payload| LocalToken::encrypt(&sealing, format!("s{}", text(payload)).as_bytes(), None, None).map_err(|_| "encrypt"),
        move |token| {
            let parsed = UntrustedToken::<Local, V4>::try_from(token).map_err(|_| "TokenFormat")?;
            let opened = LocalToken::decrypt(&opening, &parsed, None, None).map_err(|_| "TokenValidation")?;
            bytes(opened.payload().strip_prefix('s').ok_or("payload")?)
        },
    )
}

pub fn branca(config: &Config) -> Result<Box<dyn Scheme>, String> {
    let (key, ttl) = (sized(config)?, u32::try_from(config.ttl.as_secs()).map_err(|e| e.to_string())?);
    if ttl == 0 || config.ttl != Duration::from_secs(ttl.into()) {
        return Err("want a time to live of whole seconds: for 0 the crate has none".to_string());
    }
    pair(
        move |payload| branca::Branca::new(&key).and_then(|mut codec| codec.encode(payload)).map_err(|_| "encode"),
        move |token| {
            branca::decode(token, &key, ttl).map_err(|error| match error {
                branca::errors::Error::InvalidBase62Token => "InvalidBase62Token",
                branca::errors::Error::InvalidTokenVersion => "InvalidTokenVersion",
                branca::errors::Error::ExpiredToken => "ExpiredToken",
                branca::errors::Error::DecryptFailed => "DecryptFailed",
                _ => "other",
            })
        },
    )
}

pub fn fernet(config: &Config) -> Result<Box<dyn Scheme>, String> {
    let mut ring = Vec::new();
    for key in &config.keys {
        ring.push(fernet::Fernet::new(&base64::engine::general_purpose::URL_SAFE.encode(key)).ok_or("want keys of 32 bytes")?);
    }
    let (first, ttl) = (ring.first().ok_or("the ring is empty")?.clone(), config.ttl.as_secs());
    if config.ttl != Duration::from_secs(ttl) {
        return Err("want a time to live of whole seconds".to_string());
    }
    pair(
        move |payload| Ok(first.encrypt(payload)),
        move |token| ring.iter().find_map(|key| key.decrypt_with_ttl(token, ttl).ok()).ok_or("DecryptionError"),
    )
}

/// Defines a row of a jar of the crate cookie. Values are text.
macro_rules! cookie {
    ($row:ident, $jar:ident, $jar_mut:ident, $open:ident) => {
        pub fn $row(config: &Config) -> Result<Box<dyn Scheme>, String> {
            use cookie::{Cookie, CookieJar, Key};

            let sealing = Key::from(&Sha512::digest(config.only_key()?));
            let opening = sealing.clone();
            pair(
                move |payload| {
                    let mut jar = CookieJar::new();
                    jar.$jar_mut(&sealing).add(Cookie::new("sealab", URL_SAFE_NO_PAD.encode(payload)));
                    Ok(jar.get("sealab").ok_or("jar")?.value().to_string())
                },
                move |token| {
                    let opened = CookieJar::new().$jar(&opening).$open(Cookie::new("sealab", token.to_string()));
                    URL_SAFE_NO_PAD.decode(opened.ok_or("None")?.value()).map_err(|_| "value")
                },
            )
        }
    };
}

cookie!(cookie_private, private, private_mut, decrypt);
cookie!(cookie_signed, signed, signed_mut, verify);

#[cfg(feature = "openssl")]
pub fn josekit(config: &Config) -> Result<Box<dyn Scheme>, String> {
    use josekit::jwe::{self, JweHeader};
    use std::panic::{catch_unwind, AssertUnwindSafe};

    let (key, mut header) = (sized(config)?, JweHeader::new());
    header.set_content_encryption("A256GCM");
    header.set_algorithm("dir");
    let encrypter = jwe::Dir.encrypter_from_bytes(key).map_err(|e| e.to_string())?;
    let decrypter = jwe::Dir.decrypter_from_bytes(key).map_err(|e| e.to_string())?;
    pair(
        move |payload| jwe::serialize_compact(payload, &header, &encrypter).map_err(|_| "serialize"),
        move |token| {
            // The crate panics on some tokens. A server answers these as well.
            let opened = catch_unwind(AssertUnwindSafe(|| jwe::deserialize_compact(token, &decrypter))).map_err(|_| "panic")?;
            let (payload, _) = opened.map_err(|error| match error {
                josekit::JoseError::InvalidJweFormat(_) => "InvalidJweFormat",
                josekit::JoseError::InvalidKeyFormat(_) => "InvalidKeyFormat",
                _ => "other",
            })?;
            Ok(payload)
        },
    )
}
