//! Reads sealab-vectors/1 and tests the codecs in src/lib.rs. The folder of the
//! files is in VECTORS, by default ../../files.

use sealab_vectors_consumer::{Ring, DESIGNS};
use serde_json::Value;

fn bytes(hex: &Value) -> Vec<u8> {
    let text = hex.as_str().expect("a hex text");
    (0..text.len()).step_by(2).map(|i| u8::from_str_radix(&text[i..i + 2], 16).unwrap()).collect()
}

fn list(of: &Value) -> impl Iterator<Item = &Value> {
    of.as_array().into_iter().flatten()
}

#[test]
fn vectors() {
    let folder = std::env::var("VECTORS").unwrap_or_else(|_| "../../files".into());
    let mut failed = Vec::new();
    for (name, design) in DESIGNS {
        let text = std::fs::read_to_string(format!("{folder}/{name}.json")).expect("a file of vectors");
        let file: Value = serde_json::from_str(&text).expect("JSON");
        assert_eq!(file["format"], "sealab-vectors/1");
        for ring in list(&file["rings"]) {
            let secrets: Vec<_> = list(&ring["secrets"]).map(bytes).collect();
            if Ring::new(design, &secrets).is_ok() != (ring["expect"] == "accept") {
                failed.push(format!("{}: want {}", ring["id"], ring["expect"]));
            }
        }
        let mut n = 0;
        for t in list(&file["tests"]) {
            n += 1;
            let secrets: Vec<_> = list(&t["keys"]).map(|k| bytes(&file["keys"][k.as_str().unwrap()])).collect();
            let ring = Ring::new(design, &secrets).expect("a ring");
            let wrong = match ring.open(t["token"].as_str().unwrap()) {
                Ok(payload) => t["expect"] != "accept" || payload != bytes(&t["released"]),
                Err(stage) => t["expect"] != "refuse" || t["stage"] != stage,
            };
            let seed = if t["seed"].is_null() { vec![] } else { bytes(&t["seed"]) };
            if wrong || t["sealed"] == true && ring.seal(&seed, &bytes(&t["payload"])) != t["token"].as_str().unwrap() {
                failed.push(format!("{}: want {} {}: {}", t["id"], t["expect"], t["stage"], t["comment"]));
            }
        }
        assert_eq!(n, file["number_of_tests"].as_u64().unwrap());
        println!("{name}: {n} tests");
    }
    assert!(failed.is_empty(), "{} failed:\n{}", failed.len(), failed.join("\n"));
}
