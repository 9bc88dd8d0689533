//! The JSON Schema of answers, and whether a document keeps to it: the keywords that the schema uses.

use serde_json::Value;

/// `docs/reference/answer.schema.json`.
pub const ANSWER: &str = include_str!("../../../docs/reference/answer.schema.json");

/// Checks an answer of `gramer mine --json`.
///
/// # Panics
/// If it doesn't keep to the schema, with the place and the reason.
pub fn check_answer(document: &Value) {
    let schema: Value = serde_json::from_str(ANSWER).expect("the schema is JSON");
    if let Err(why) = valid(&schema, &schema, document, "answer") {
        panic!("the schema of answers: {why}\n{document:#}");
    }
}

/// Whether `value` keeps to `schema`, a part of `root`.
fn valid(root: &Value, schema: &Value, value: &Value, at: &str) -> Result<(), String> {
    let Some(keywords) = schema.as_object() else {
        return match schema {
            Value::Bool(true) => Ok(()),
            _ => Err(format!("{at}: nothing is allowed here")),
        };
    };
    for (keyword, wanted) in keywords {
        let holds = match keyword.as_str() {
            "$schema" | "title" | "description" | "$defs" => true,
            "$ref" => {
                let path = wanted.as_str().and_then(|path| path.strip_prefix('#'));
                let part = path.and_then(|path| root.pointer(path));
                valid(root, part.unwrap_or_else(|| panic!("{wanted} leads nowhere")), value, at)?;
                true
            }
            "anyOf" | "oneOf" => {
                let ways = wanted.as_array().expect("a list of schemas").iter();
                let fits = ways.filter(|way| valid(root, way, value, at).is_ok()).count();
                if keyword == "anyOf" { fits > 0 } else { fits == 1 }
            }
            "type" => match wanted {
                Value::Array(kinds) => kinds.iter().any(|kind| is_kind(value, kind)),
                kind => is_kind(value, kind),
            },
            "const" => value == wanted,
            "enum" => wanted.as_array().expect("values").contains(value),
            // Keywords of one type say nothing of others.
            "minimum" => value.as_f64().is_none_or(|n| n >= number(wanted)),
            "exclusiveMinimum" => value.as_f64().is_none_or(|n| n > number(wanted)),
            "exclusiveMaximum" => value.as_f64().is_none_or(|n| n < number(wanted)),
            "minLength" => {
                value.as_str().is_none_or(|s| s.chars().count() as f64 >= number(wanted))
            }
            "pattern" => {
                assert_eq!(wanted, "^[0-9]+$", "the only one that is checked");
                let digits = |s: &str| !s.is_empty() && s.bytes().all(|b| b.is_ascii_digit());
                value.as_str().is_none_or(digits)
            }
            "minItems" => value.as_array().is_none_or(|all| all.len() as f64 >= number(wanted)),
            "maxItems" => value.as_array().is_none_or(|all| all.len() as f64 <= number(wanted)),
            "items" => {
                for (place, item) in value.as_array().into_iter().flatten().enumerate() {
                    valid(root, wanted, item, &format!("{at}[{place}]"))?;
                }
                true
            }
            "required" => value.as_object().is_none_or(|fields| {
                let names = wanted.as_array().expect("names").iter();
                names.filter_map(Value::as_str).all(|name| fields.contains_key(name))
            }),
            "properties" => {
                for (name, field) in wanted.as_object().expect("schemas by name") {
                    if let Some(value) = value.get(name) {
                        valid(root, field, value, &format!("{at}.{name}"))?;
                    }
                }
                true
            }
            "additionalProperties" => {
                let known = |name: &str| schema["properties"].get(name).is_some();
                for (name, value) in value.as_object().into_iter().flatten() {
                    if !known(name) {
                        valid(root, wanted, value, &format!("{at}.{name}"))?;
                    }
                }
                true
            }
            other => panic!("the check of the schema doesn't know the keyword {other}"),
        };
        if !holds {
            return Err(format!("{at}: {keyword} {wanted} does not hold of {value}"));
        }
    }
    Ok(())
}

fn number(value: &Value) -> f64 {
    value.as_f64().expect("a number")
}

fn is_kind(value: &Value, kind: &Value) -> bool {
    match kind.as_str().expect("a type") {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "null" => value.is_null(),
        "number" => value.is_number(),
        // A number of more than 64 bits is read as a double.
        "integer" => value.as_f64().is_some_and(|n| n.fract() == 0.0),
        other => panic!("there is no type {other}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn answer() -> Value {
        json!({
            "schema": 1, "gramer": "0.1.0", "task": "match", "mappings": false, "induced": "edge",
            "graph": {"source": "g.txt", "vertices": 3, "edges": 2, "labels": 0, "edge_labels": 0},
            "device": "cpu", "threads": 1, "complete": true, "total": "340282366920938463463374607431768211455",
            "results": [{
                "pattern": {
                    "vertices": 3, "edges": [[0, 1], [1, 2]], "labels": [1, null, 2], "edge_labels": null,
                    "absent": [[0, 2]],
                },
                "name": "wedge", "count": 5,
            }],
            "seconds": {"load": 0.1, "prepare": 0, "mine": 0.2},
        })
    }

    #[test]
    fn what_keeps_to_the_schema_passes_and_nothing_else() {
        check_answer(&answer());
        let schema: Value = serde_json::from_str(ANSWER).unwrap();
        for (path, wrong) in [
            ("/schema", json!(2)),
            ("/task", json!(7)),
            ("/total", json!("12a")),
            ("/total", json!(-1)),
            ("/threads", json!(0)),
            ("/complete", json!("yes")),
            ("/results/0/count", json!(1.5)),
            ("/results/0/name", json!("")),
            ("/results/0/pattern/edges/0", json!([0, 1, 2])),
            ("/results/0/pattern/absent", json!([])),
            ("/graph", json!({"source": "g.txt"})),
            ("/seconds/mine", json!(null)),
        ] {
            let mut document = answer();
            *document.pointer_mut(path).unwrap() = wrong.clone();
            assert!(valid(&schema, &schema, &document, "answer").is_err(), "{path} {wrong}");
        }
        let mut more = answer();
        more["surprise"] = json!(1);
        assert!(valid(&schema, &schema, &more, "answer").is_err());
    }
}
