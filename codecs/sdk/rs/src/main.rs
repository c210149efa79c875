//! Token crates as sealab workers, protocol 1: the first argument names one of the
//! table, and others of the form option=value change its defaults.
//!
//! Every answer comes from the crate itself. Only the clock is replaced, because the
//! time is a member of each request.

mod clock;
#[cfg(feature = "libs")]
mod libs;
mod schemes;
mod text;
#[cfg(feature = "tower")]
mod tower;

use std::collections::HashMap;
use std::io::{BufRead, Write};
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::time::{Duration, Instant};

use schemes::{Binding, Config, Failure, Implementation, Scheme, TABLE};
use serde::Deserialize;
use serde_json::{json, Map, Value};

const PROTOCOL: u64 = 1;

/// The properties of the protocol.
const PROPERTIES: &[&str] = &[
    "integrity", "confidentiality", "canonical", "binds-method", "binds-target", "binds-arguments", "binds-principal",
    "binds-audience", "unambiguous", "expiry", "rotation", "key-separation", "key-committing", "nonce-misuse-resistant",
    "fresh-nonces", "sender-authenticated", "unlinkable", "uniform-refusal", "steady-timing", "total", "byte-exact",
    "strong-keys", "single-use", "inert", "private-keys",
];

/// A Request has the members that some operation reads. Arguments are any JSON and
/// are not looked at.
#[derive(Deserialize, Default)]
#[serde(default)]
struct Request {
    op: String,
    protocol: u64,
    handle: u64,
    now: Option<f64>,
    keys_b64: Vec<String>,
    ttl: Option<f64>,
    options: Option<Map<String, Value>>,
    #[serde(alias = "payload_b64")]
    state_b64: String,
    binding: Option<Context>,
    token: String,
    tokens: Option<Vec<String>>,
    r#do: String,
    n: u64,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Context {
    method: Option<String>,
    target: Option<String>,
    principal: Option<String>,
}

struct Worker {
    implementation: &'static Implementation,
    defaults: Map<String, Value>,
    opened: HashMap<u64, Box<dyn Scheme>>,
    last: u64,
}

fn fault(text: impl ToString) -> Failure {
    Failure::Fault(text.to_string())
}

impl Worker {
    fn answer(&mut self, line: &str) -> Value {
        let outcome = catch_unwind(AssertUnwindSafe(|| self.ask(line)));
        result(outcome.unwrap_or_else(|_| Err(fault("the crate panicked"))))
    }

    fn ask(&mut self, line: &str) -> Result<Value, Failure> {
        let request: Request = serde_json::from_str(&text::without_surrogates(line)).map_err(fault)?;
        if let Some(now) = request.now {
            clock::set(now);
        }
        match request.op.as_str() {
            "hello" => self.hello(&request),
            "open" => Ok(self.open(&request).unwrap_or_else(|why| json!({"ok": false, "refused": why}))),
            "close" => {
                self.opened.remove(&request.handle).ok_or_else(|| fault("there is no such handle"))?;
                Ok(json!({}))
            }
            "mint" | "seal" => {
                let state = schemes::bytes(&request.state_b64)?;
                Ok(json!({"token": self.handle(&request)?.mint(&state, &binding(&request))?}))
            }
            "verify" | "unseal" => self.verify(&request),
            "bench" => self.bench(&request),
            _ => Err(Failure::Unsupported),
        }
    }

    fn hello(&self, request: &Request) -> Result<Value, Failure> {
        if request.protocol != PROTOCOL {
            return Err(fault(format!("protocol {}, want {PROTOCOL}", request.protocol)));
        }
        let i = self.implementation;
        let guarantees: Map<String, Value> = PROPERTIES.iter().map(|p| (p.to_string(), json!(i.holds.contains(p)))).collect();
        let options: Vec<Value> = i.options.iter().map(|(name, values)| {
            let first = &self.defaults[*name];
            let others = values.iter().filter(|value| first != *value);
            json!({"name": name, "values": std::iter::once(first.clone()).chain(others.map(|v| json!(v))).collect::<Vec<_>>()})
        }).collect();
        Ok(json!({"protocol": PROTOCOL, "name": i.name, "version": i.version, "kind": if i.scheme { "scheme" } else { "codec" },
            "abilities": if i.scheme { vec!["clock", "batch", "bench"] } else { vec!["batch", "bench"] }, "guarantees": guarantees, "options": options}))
    }

    fn open(&mut self, request: &Request) -> Result<Value, String> {
        let mut options = self.defaults.clone();
        for (name, value) in request.options.as_ref().unwrap_or(&Map::new()) {
            let known = self.implementation.options.iter().any(|(n, values)| n == name && values.iter().any(|v| value == v));
            if !known {
                return Err(format!("there is no option {name:?} with the value {value}"));
            }
            options.insert(name.clone(), value.clone());
        }
        let keys: Result<Vec<_>, _> = request.keys_b64.iter().map(|key| schemes::bytes(key)).collect();
        let keys = keys.map_err(|_| "a key is not base64url".to_string())?;
        let ttl = Duration::try_from_secs_f64(request.ttl.unwrap_or(600.0)).map_err(|e| e.to_string())?;
        let scheme = (self.implementation.open)(&Config { keys, ttl, options })?;
        self.last += 1;
        self.opened.insert(self.last, scheme);
        Ok(json!({"handle": self.last}))
    }

    fn handle(&self, request: &Request) -> Result<&dyn Scheme, Failure> {
        let scheme = self.opened.get(&request.handle).map(Box::as_ref);
        scheme.ok_or_else(|| fault(format!("there is no handle {}", request.handle)))
    }

    fn verify(&self, request: &Request) -> Result<Value, Failure> {
        let (scheme, binding) = (self.handle(request)?, binding(request));
        if let Some(tokens) = &request.tokens {
            let verdicts: Vec<Value> = tokens.iter().map(|token| result(self.verdict(scheme, token, &binding))).collect();
            return Ok(json!({"verdicts": verdicts}));
        }
        self.verdict(scheme, &request.token, &binding)
    }

    fn verdict(&self, scheme: &dyn Scheme, token: &str, binding: &Binding) -> Result<Value, Failure> {
        let state = schemes::field(&scheme.verify(&text::token_of(token), binding)?);
        let member = if self.implementation.scheme { "state_b64" } else { "payload_b64" };
        Ok(json!({ member: state }))
    }

    fn bench(&self, request: &Request) -> Result<Value, Failure> {
        let (scheme, binding, n) = (self.handle(request)?, binding(request), request.n);
        let start = Instant::now();
        match request.r#do.as_str() {
            "verify" | "unseal" => {
                for _ in 0..n {
                    scheme.verify(&request.token, &binding)?;
                }
            }
            "mint" | "seal" => {
                let state = schemes::bytes(&request.state_b64)?;
                for _ in 0..n {
                    scheme.mint(&state, &binding)?;
                }
            }
            _ => return Err(Failure::Unsupported),
        }
        Ok(json!({"elapsed_ns": start.elapsed().as_nanos() as u64}))
    }
}

fn binding(request: &Request) -> Binding {
    let none = Context::default();
    let context = request.binding.as_ref().unwrap_or(&none);
    let text = |member: &Option<String>| member.clone().unwrap_or_default();
    Binding { method: text(&context.method), target: text(&context.target), principal: context.principal.clone() }
}

/// Completes an answer with "ok", unless it has one.
fn result(outcome: Result<Value, Failure>) -> Value {
    match outcome {
        Ok(mut value) => {
            if value.get("ok").is_none() {
                value["ok"] = json!(true);
            }
            value
        }
        Err(Failure::Unsupported) => json!({"ok": false, "unsupported": true}),
        Err(Failure::Rejected(stage, reason)) => json!({"ok": false, "rejected": stage, "reason": reason}),
        Err(Failure::Fault(text)) => json!({"ok": false, "fault": text}),
    }
}

fn main() {
    let name = std::env::args().nth(1).unwrap_or_default();
    let Some(implementation) = TABLE.iter().find(|i| i.name == name) else {
        let known: Vec<&str> = TABLE.iter().map(|i| i.name).collect();
        eprintln!("no implementation {name:?}; there are {}", known.join(", "));
        std::process::exit(2);
    };
    if !clock::works() {
        eprintln!("the standard library does not read the clock of this program");
        std::process::exit(2);
    }
    let mut defaults: Map<String, Value> = implementation.options.iter().map(|(name, values)| (name.to_string(), json!(values[0]))).collect();
    for argument in std::env::args().skip(2) {
        let (name, value) = argument.split_once('=').unwrap_or((&argument, ""));
        defaults.insert(name.to_string(), json!(value));
    }
    let mut worker = Worker { implementation, defaults, opened: HashMap::new(), last: 0 };
    let mut out = std::io::stdout().lock();
    for line in std::io::stdin().lock().lines() {
        let Ok(line) = line else { return };
        if writeln!(out, "{}", worker.answer(&line)).and_then(|()| out.flush()).is_err() {
            return;
        }
    }
}
