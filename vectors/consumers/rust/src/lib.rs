//! The lab's own codecs, implemented with RustCrypto from their documentation alone:
//!
//! ```text
//! token  = prefix || base64url(key-id[4] || rest)
//! key    = HKDF-SHA256(secret, no salt, label || " key", 32)
//! key-id = HKDF-SHA256(secret, no salt, label || " key-id", 4)
//! signed:    rest = payload || HMAC-SHA256(key, prefix || key-id || payload)
//! encrypted: rest = nonce || ciphertext || tag, associated data = prefix || key-id
//! ```

use aes_gcm::aead::{generic_array::GenericArray, Aead, Payload};
use aes_gcm::{Aes256Gcm, KeyInit};
use base64::{engine::general_purpose::URL_SAFE_NO_PAD, Engine};
use chacha20poly1305::XChaCha20Poly1305;
use hkdf::Hkdf;
use hmac::{Hmac, Mac};
use sha2::Sha256;

const MIN_SECRET: usize = 32;
const ID: usize = 4;
const TAG: usize = 16;
const MAC: usize = 32;

/// The protection of the payload.
#[derive(Clone, Copy)]
pub enum Cipher {
    Hmac,
    Gcm,
    XChaCha,
}

/// One design: its token's prefix and the label under which it derives keys.
#[derive(Clone, Copy)]
pub struct Design {
    pub prefix: &'static str,
    pub label: &'static str,
    pub cipher: Cipher,
}

/// The designs by name.
pub const DESIGNS: [(&str, Design); 3] = [
    ("hmac-sha256", Design { prefix: "sh1.", label: "sealab/hmac-sha256/v1", cipher: Cipher::Hmac }),
    ("aes-256-gcm", Design { prefix: "sa1.", label: "sealab/aes-256-gcm/v1", cipher: Cipher::Gcm }),
    ("xchacha20-poly1305", Design { prefix: "sx1.", label: "sealab/xchacha20-poly1305/v1", cipher: Cipher::XChaCha }),
];

struct Key {
    id: [u8; ID],
    key: [u8; 32],
}

/// A ring of keys under one design: the first seals, every one opens.
pub struct Ring {
    design: Design,
    keys: Vec<Key>,
}

impl Ring {
    /// Refuses an empty ring, short or constant secrets, and key ids that collide.
    pub fn new(design: Design, secrets: &[Vec<u8>]) -> Result<Ring, String> {
        let mut keys: Vec<Key> = Vec::new();
        for secret in secrets {
            if secret.len() < MIN_SECRET || secret.iter().all(|b| *b == secret[0]) {
                return Err("a weak secret".into());
            }
            let (mut id, mut key) = ([0; ID], [0; 32]);
            let derived = Hkdf::<Sha256>::new(None, secret);
            derived.expand(format!("{} key-id", design.label).as_bytes(), &mut id).unwrap();
            derived.expand(format!("{} key", design.label).as_bytes(), &mut key).unwrap();
            if keys.iter().any(|k| k.id == id) {
                return Err("two secrets with one key id".into());
            }
            keys.push(Key { id, key });
        }
        if keys.is_empty() {
            return Err("no secret".into());
        }
        Ok(Ring { design, keys })
    }

    /// Seals a payload under the first key with the given nonce.
    pub fn seal(&self, nonce: &[u8], payload: &[u8]) -> String {
        let k = &self.keys[0];
        let mut raw = k.id.to_vec();
        match self.design.cipher {
            Cipher::Hmac => {
                raw.extend_from_slice(payload);
                raw.extend_from_slice(&self.mac(k, payload).finalize().into_bytes());
            }
            _ => {
                raw.extend_from_slice(nonce);
                raw.extend(self.aead(k, nonce, payload, true).expect("sealing does not fail"));
            }
        }
        format!("{}{}", self.design.prefix, URL_SAFE_NO_PAD.encode(raw))
    }

    /// Opens a token, or returns the stage of its refusal.
    pub fn open(&self, token: &str) -> Result<Vec<u8>, &'static str> {
        let text = token.strip_prefix(self.design.prefix).ok_or("malformed")?;
        let raw = URL_SAFE_NO_PAD.decode(text).map_err(|_| "malformed")?;
        let nonce = match self.design.cipher {
            Cipher::Hmac => 0,
            Cipher::Gcm => 12,
            Cipher::XChaCha => 24,
        };
        let tag = if nonce == 0 { MAC } else { TAG };
        if raw.len() < ID + nonce + tag {
            return Err("malformed");
        }
        let (id, rest) = raw.split_at(ID);
        let k = self.keys.iter().find(|k| k.id == id).ok_or("unknown-key")?;
        if nonce == 0 {
            let (payload, tag) = rest.split_at(rest.len() - MAC);
            self.mac(k, payload).verify_slice(tag).map_err(|_| "unauthentic")?;
            return Ok(payload.to_vec());
        }
        self.aead(k, &rest[..nonce], &rest[nonce..], false).ok_or("unauthentic")
    }

    fn data(&self, k: &Key) -> Vec<u8> {
        [self.design.prefix.as_bytes(), &k.id].concat()
    }

    fn mac(&self, k: &Key, payload: &[u8]) -> Hmac<Sha256> {
        let mut mac = <Hmac<Sha256> as Mac>::new_from_slice(&k.key).expect("any key length");
        mac.update(&self.data(k));
        mac.update(payload);
        mac
    }

    fn aead(&self, k: &Key, nonce: &[u8], msg: &[u8], seal: bool) -> Option<Vec<u8>> {
        let aad = self.data(k);
        let payload = Payload { msg, aad: &aad };
        match self.design.cipher {
            Cipher::XChaCha => run(&XChaCha20Poly1305::new(GenericArray::from_slice(&k.key)), GenericArray::from_slice(nonce), payload, seal),
            _ => run(&Aes256Gcm::new(GenericArray::from_slice(&k.key)), GenericArray::from_slice(nonce), payload, seal),
        }
    }
}

fn run<A: Aead>(a: &A, nonce: &GenericArray<u8, A::NonceSize>, payload: Payload, seal: bool) -> Option<Vec<u8>> {
    if seal { a.encrypt(nonce, payload).ok() } else { a.decrypt(nonce, payload).ok() }
}
