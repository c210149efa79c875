//! The crate tower-mcp in two versions, as schemes of the worker protocol.

use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::schemes::{Binding, Config, Failure, Scheme};
use crate::text;

/// How states and the values that the crate carries correspond.
fn value_of(state: &[u8], as_json: bool) -> Result<Value, Failure> {
    if as_json {
        return serde_json::from_slice(state).map_err(|_| Failure::Unsupported);
    }
    let text = String::from_utf8(state.to_vec()).map_err(|_| Failure::Unsupported)?;
    Ok(Value::String(text))
}

/// Defines a scheme over one version of the crate tower-mcp.
macro_rules! tower {
    ($scheme:ident, $krate:ident) => {
        struct $scheme {
            codec: $krate::RequestStateCodec,
            as_json: bool,
        }

        impl $scheme {
            fn of(codec: $krate::RequestStateCodec, config: &Config) -> Box<dyn Scheme> {
                let codec = match config.option("limit") {
                    "none" => codec.with_max_token_bytes(usize::MAX),
                    _ => codec,
                };
                Box::new($scheme { codec, as_json: config.option("payload") == "json" })
            }

            fn decode<T: serde::de::DeserializeOwned>(&self, token: &str, b: &Binding) -> Result<T, Failure> {
                use $krate::RequestStateError::*;
                match &b.principal {
                    None => self.codec.decode(token),
                    Some(subject) => self.codec.decode_for(token, subject),
                }
                .map_err(|error| match error {
                    TooLarge(_) => Failure::Rejected("malformed", "TooLarge"),
                    Malformed => Failure::Rejected("malformed", "Malformed"),
                    UnsupportedVersion => Failure::Rejected("malformed", "UnsupportedVersion"),
                    Integrity => Failure::Rejected("unauthentic", "Integrity"),
                    Decode(_) => Failure::Rejected("malformed", "Decode"),
                    Expired => Failure::Rejected("expired", "Expired"),
                    SubjectMismatch => Failure::Rejected("misbound", "SubjectMismatch"),
                    Clock => Failure::Rejected("expired", "Clock"),
                    other => Failure::Fault(other.to_string()),
                })
            }
        }

        impl Scheme for $scheme {
            fn mint(&self, state: &[u8], b: &Binding) -> Result<String, Failure> {
                let value = value_of(state, self.as_json)?;
                match &b.principal {
                    None => self.codec.encode(&value),
                    Some(subject) if text::has_surrogate(subject) => return Err(Failure::Unsupported),
                    Some(subject) => self.codec.encode_for(subject, &value),
                }
                .map_err(|error| match error {
                    $krate::RequestStateError::TooLarge(_) | $krate::RequestStateError::Clock => Failure::Unsupported,
                    other => Failure::Fault(other.to_string()),
                })
            }

            fn verify(&self, token: &str, b: &Binding) -> Result<Vec<u8>, Failure> {
                if self.as_json {
                    return Ok(self.decode::<Value>(token, b)?.to_string().into_bytes());
                }
                Ok(self.decode::<String>(token, b)?.into_bytes())
            }
        }
    };
}

tower!(TowerV1, tower_mcp_v1);
tower!(TowerV2, tower_mcp);

pub fn open_tower_v1(config: &Config) -> Result<Box<dyn Scheme>, String> {
    let codec = tower_mcp_v1::RequestStateCodec::new(config.only_key()?, config.ttl).map_err(|e| e.to_string())?;
    Ok(TowerV1::of(codec, config))
}

pub fn open_tower_v2(config: &Config) -> Result<Box<dyn Scheme>, String> {
    let (first, others) = config.keys.split_first().ok_or("the ring is empty")?;
    let mut codec = tower_mcp::RequestStateCodec::new(first, config.ttl).map_err(|e| e.to_string())?;
    for key in others {
        let sum = Sha256::digest(key);
        let id: String = sum.iter().take(8).map(|byte| format!("{byte:02x}")).collect();
        codec = codec.with_verification_key(id, key).map_err(|e| e.to_string())?;
    }
    Ok(TowerV2::of(codec, config))
}
