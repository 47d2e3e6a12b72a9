package intent

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestFromText(t *testing.T) {
	type want struct {
		intent Intent
		err    string
	}
	cases := map[string]struct {
		reason string
		text   string
		want   want
	}{
		"Smallest": {
			reason: "A name alone is an intent: everything else has a default.",
			text:   `{"service": "shop"}`,
			want:   want{intent: Intent{Service: "shop", Type: "web", Replicas: 1, Priority: "medium"}},
		},
		"Everything": {
			reason: "Each field is read, Sites are sorted, and quantities become canonical.",
			text: `{"service": "shop", "type": "batch", "sites": ["edge2", "edge1"], "replicas": {"edge2": 0, "edge1": 3},
				"resources": {"cpu": "0.5", "memory": "1024Mi"}, "image": "nginx:1.27", "parameters": {"color": "blue"}}`,
			want: want{intent: Intent{
				Service: "shop", Type: "batch", Sites: []string{"edge1", "edge2"}, Replicas: 1, Priority: "medium",
				SiteReplicas: map[string]int32{"edge1": 3, "edge2": 0}, Image: "nginx:1.27",
				Resources: Resources{CPU: "500m", Memory: "1Gi"}, Parameters: map[string]string{"color": "blue"},
			}},
		},
		"Word": {
			reason: "A word that stands for several Sites is passed on.",
			text:   `{"service": "shop", "site": "both", "replicas": 0}`,
			want:   want{intent: Intent{Service: "shop", Type: "web", Sites: []string{"both"}, Priority: "medium"}},
		},
		"NotAnObject": {
			reason: "JSON that is not an object is not plain language either.",
			text:   `["shop"]`,
			want:   want{err: `spec.intent: must be a JSON object, such as {"service": "edge-analytics", "site": "edge1"}`},
		},
		"Syntax": {
			reason: "Broken JSON is refused where it breaks.",
			text:   "{\n  \"service\": \"shop\",,\n}",
			want:   want{err: `spec.intent: line 2, column 21: is not JSON: invalid character ',' looking for beginning of object key string`},
		},
		"TrailingData": {
			reason: "There is nothing after the object.",
			text:   `{"service": "shop"} {}`,
			want:   want{err: `spec.intent: line 1, column 21: is not JSON: invalid character '{' after top-level value`},
		},
		"UnknownField": {
			reason: "A field that does nothing is refused.",
			text:   "{\"service\": \"shop\",\n \"replica\": 2}",
			want:   want{err: `spec.intent: line 2, column 13: replica: is not a field of a service intent`},
		},
		"UnknownNestedField": {
			reason: "An unknown field of an inner object is refused.",
			text:   `{"service": "shop", "resources": {"gpu": "1"}}`,
			want:   want{err: `spec.intent: line 1, column 42: resources.gpu: is not a field of a service intent`},
		},
		"OtherCase": {
			reason: "Names of fields are exact.",
			text:   `{"Service": "shop"}`,
			want:   want{err: `spec.intent: line 1, column 13: Service: is not a field of a service intent`},
		},
		"Duplicate": {
			reason: "Two values of one field contradict each other.",
			text:   `{"service": "shop", "service": "bank"}`,
			want:   want{err: `spec.intent: line 1, column 21: service: comes twice`},
		},
		"SiteAndSites": {
			reason: "Both forms together contradict each other.",
			text:   `{"service": "shop", "site": "edge1", "sites": ["edge2"]}`,
			want:   want{err: `spec.intent: line 1, column 47: sites: excludes site: set only one of them`},
		},
		"WrongType": {
			reason: "The position is that of the value, in characters.",
			text:   "{\"service\": \"shop\",\n \"parameters\": {\"ü\": \"ä\"},\n \"sites\": [\"edge1\", 2]}",
			want:   want{err: `spec.intent: line 3, column 21: sites[1]: must be a string, in quotes`},
		},
		"Null": {
			reason: "Null is refused where a string belongs.",
			text:   `{"service": null}`,
			want:   want{err: `spec.intent: line 1, column 13: service: must be a string, in quotes`},
		},
		"NoService": {
			reason: "Only the service has no default.",
			text:   `{"site": "edge1"}`,
			want:   want{err: `spec.intent: line 1, column 1: service: must be set: it names the service to run`},
		},
		"TwiceTheSite": {
			reason: "A Site that is named twice is refused.",
			text:   `{"service": "shop", "sites": ["edge1", "edge1"]}`,
			want:   want{err: `spec.intent: line 1, column 40: sites[1]: names edge1 a second time`},
		},
		"WordAndSite": {
			reason: "A word that stands for several Sites stands alone.",
			text:   `{"service": "shop", "sites": ["edge1", "all"]}`,
			want:   want{err: `spec.intent: line 1, column 40: sites[1]: "all" stands for several Sites: name no other`},
		},
		"Traversal": {
			reason: "A name is never a path.",
			text:   `{"service": "shop", "site": "../edge1"}`,
			want:   want{err: `spec.intent: line 1, column 29: site: must be the name of a Site: at most 63 lower-case letters, digits, '-' and '.'`},
		},
		"ReplicasElsewhere": {
			reason: "Replicas for a Site that is not chosen are a mistake.",
			text:   `{"service": "shop", "site": "edge1", "replicas": {"edge3": 1}}`,
			want:   want{err: `spec.intent: line 1, column 60: replicas.edge3: edge3 is not one of the intent's Sites`},
		},
		"Fraction": {
			reason: "Half a replica does not exist.",
			text:   `{"service": "shop", "replicas": 1.5}`,
			want:   want{err: `spec.intent: line 1, column 33: replicas: must be a whole number, or an object of them by Site`},
		},
		"TooMany": {
			reason: "Numbers that do not fit are out of bounds, not something else.",
			text:   `{"service": "shop", "replicas": 4294967297}`,
			want:   want{err: `spec.intent: line 1, column 33: replicas: must be from 0 to 10000`},
		},
		"Quantity": {
			reason: "An amount of zero is refused.",
			text:   `{"service": "shop", "resources": {"cpu": "0"}}`,
			want:   want{err: `spec.intent: line 1, column 42: resources.cpu: must be a quantity above zero, such as 500m`},
		},
		"Exponent": {
			reason: "An exponent that would keep a processor busy for hours is refused.",
			text:   `{"service": "shop", "resources": {"memory": "1e999999999"}}`,
			want:   want{err: `spec.intent: line 1, column 45: resources.memory: must be a quantity, such as 4Gi`},
		},
		"Image": {
			reason: "A malformed reference of an image is refused.",
			text:   `{"service": "shop", "image": "nginx:1.27\n  evil: true"}`,
			want:   want{err: `spec.intent: line 1, column 30: image: must be the reference of an image, such as registry.example.org/team/app:1.2.0`},
		},
		"ControlCharacter": {
			reason: "A NUL byte is refused, since it hides text from readers.",
			text:   `{"service": "shop", "parameters": {"a": "b\u0000"}}`,
			want:   want{err: `spec.intent: line 1, column 41: parameters.a: must be at most 4096 bytes of text without control characters`},
		},
		"RawControlCharacter": {
			reason: "A control character behind the JSON is refused.",
			text:   "{\"service\": \"shop\"}\x00",
			want:   want{err: `spec.intent: line 1, column 20: must not have control characters`},
		},
		"Encoding": {
			reason: "Text that is not valid UTF-8 is refused.",
			text:   "{\"service\": \"\xff\"}",
			want:   want{err: `spec.intent: must be valid UTF-8`},
		},
		"ParameterName": {
			reason: "A parameter's name is a key of a ConfigMap.",
			text:   `{"service": "shop", "parameters": {"a/b": "c"}}`,
			want: want{
				err: `spec.intent: line 1, column 43: parameters.a/b: must be named by at most 63 letters, digits, '-', '_' and '.', beginning with one of the letters`,
			},
		},
		"TooLong": {
			reason: "The text is bounded before anything reads it.",
			text:   `{"service": "` + strings.Repeat("a", 16<<10) + `"}`,
			want:   want{err: `spec.intent: has 16399 bytes, more than 16384`},
		},
		"TooDeep": {
			reason: "A document that nests too deep is refused.",
			text:   `{"service":` + strings.Repeat("[", 4000) + strings.Repeat("]", 4000) + `}`,
			want:   want{err: `spec.intent: line 1, column 20: service[0][0][0][0][0][0][0][0]: must not nest deeper than 8`},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := FromText(tc.text)
			if diff := cmp.Diff(tc.want.err, message(err)); diff != "" {
				t.Errorf("\n%s\nFromText(...): -want error, +got error:\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff(tc.want.intent, got); diff != "" {
				t.Errorf("\n%s\nFromText(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestReplicasAt(t *testing.T) {
	i := Intent{Replicas: 2, SiteReplicas: map[string]int32{"edge1": 0}}
	cases := map[string]struct {
		reason string
		site   string
		want   int32
	}{
		"Named": {reason: "A Site's own number wins, also when it is zero.", site: "edge1", want: 0},
		"Other": {reason: "Other Sites have the number of all.", site: "edge2", want: 2},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, i.ReplicasAt(tc.site)); diff != "" {
				t.Errorf("\n%s\nReplicasAt(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func message(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
