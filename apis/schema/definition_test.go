package schema

import "testing"

func TestDefinitions(t *testing.T) {
	cases := map[string]struct {
		reason   string
		document string
		want     string
	}{
		"Nothing": {
			reason:   "A definition without group, kind and scope is refused.",
			document: "{}", want: "CustomResourceDefinition of .: spec.group, spec.names.kind and spec.scope must be set",
		},
		"NotYAML": {reason: "A definition that is not YAML is refused.", document: "a: [", want: "cannot decode CustomResourceDefinition"},
		"Reference": {
			reason:   "A schema with references is refused, since they may be endless.",
			document: definitionOf("x.org", `{type: object, properties: {a: {$ref: "#"}}}`),
			want:     "CustomResourceDefinition of Job.x.org: version v1: openAPIV3Schema: $ref is not allowed",
		},
		"Builtin": {
			reason:   "Kubernetes' own kinds stay as they are.",
			document: definitionOf("batch", `{type: object}`), want: "CustomResourceDefinition of Job.batch: is a kind of Kubernetes' own",
		},
		"BadSchema": {
			reason:   "A schema that cannot be decoded is refused.",
			document: definitionOf("x.org", `{type: 3}`), want: "CustomResourceDefinition of Job.x.org: version v1: cannot decode openAPIV3Schema",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			_, err := Definitions([]byte(tc.document))
			if err == nil || len(err.Error()) < len(tc.want) || err.Error()[:len(tc.want)] != tc.want {
				t.Errorf("\n%s\nDefinitions(...): want error %q, got %v", tc.reason, tc.want, err)
			}
		})
	}
}
