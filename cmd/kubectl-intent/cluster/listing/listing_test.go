package listing

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
)

// manyItems are the objects of a list that is handed over in three chunks.
func manyItems() []string {
	var out []string
	for i := range 2*chunkSize + 1 {
		out = append(out, fmt.Sprintf(`{"a":%d}`, i))
	}
	return out
}

func TestReadListing(t *testing.T) {
	type want struct {
		items  []string
		chunks []int
		token  string
		fails  string
	}
	manyObjects := manyItems()
	cases := map[string]struct {
		reason string
		text   string
		want   want
	}{
		"TokenLast": {
			reason: "An API server writes the token of custom resources after their objects.",
			text:   `{"apiVersion":"v1","items":[{"a":1},{"a":2}],"kind":"L","metadata":{"continue":"x"}}`,
			want:   want{items: []string{`{"a":1}`, `{"a":2}`}, chunks: []int{2}, token: "x"},
		},
		"TokenFirst": {
			reason: "The token may stand before the objects.", text: `{"metadata":{"continue":"x","resourceVersion":"7"},"items":[{"a":1}]}`,
			want: want{items: []string{`{"a":1}`}, chunks: []int{1}, token: "x"},
		},
		"Last": {reason: "The last page has no token.", text: `{"metadata":{},"items":[{"a":1}]}`, want: want{items: []string{`{"a":1}`}, chunks: []int{1}}},
		"Chunks": {
			reason: "Objects are handed over before all of them were read.",
			text:   `{"items":[` + strings.Join(manyObjects, ",") + `]}`, want: want{items: manyObjects, chunks: []int{chunkSize, chunkSize, 1}},
		},
		"Empty": {reason: "A list may be empty.", text: `{"items":[],"metadata":{}}`},
		"Null":  {reason: "An empty list may have null for its objects.", text: `{"items":null,"metadata":{}}`},
		"NoItems": {
			reason: "An answer without the field is not a list.",
			text:   `{"metadata":{}}`, want: want{fails: "cannot decode a list: the answer is not a list: it has no items"},
		},
		"Object": {reason: "An empty object is not a list.", text: `{}`, want: want{fails: "cannot decode a list: the answer is not a list: it has no items"}},
		"Status": {
			reason: "A Status is not a list, also with code 200.", text: `{"kind":"Status","metadata":{},"status":"Failure","code":500}`,
			want: want{fails: "cannot decode a list: the answer is not a list: it has no items"},
		},
		"ItemsObject": {
			reason: "A list has its objects in an array.",
			text:   `{"items":{"a":1}}`, want: want{fails: "cannot decode a list: the answer is not a list: expected [, got {"},
		},
		"ItemsText": {
			reason: "A text is not an array of objects.", text: `{"items":"a"}`, want: want{fails: `cannot decode a list: the answer is not a list: expected [, got "`},
		},
		"ItemsComma": {
			reason: "A comma without an object behind it is an error.", text: `{"items":[{"a":1},],"metadata":{}}`,
			want: want{items: []string{`{"a":1}`}, chunks: []int{1}, fails: "cannot decode a list: the answer is not a list: expected a value, got ]"},
		},
		"ItemsGap": {
			reason: "A comma stands between two objects.", text: `{"items":[{"a":1}{"a":2}],"metadata":{}}`,
			want: want{items: []string{`{"a":1}`}, chunks: []int{1}, fails: "cannot decode a list: the answer is not a list: expected ,, got {"},
		},
		"Blanks": {
			reason: "Blanks between values are no part of them.", text: "\n{ \"items\" : [ {\"a\": 1} ,\t5 , null ],\r\n \"metadata\" : { \"continue\" : \"x\" } }\n",
			want: want{items: []string{`{"a": 1}`, `5`, `null`}, chunks: []int{3}, token: "x"},
		},
		"Escapes": {
			reason: "A bracket or a quote in a string ends no value.", text: `{"x":"}\\\"]","items":[{"a":"\"}\\"},{"b":["\\\\","{"]}],"metadata":{}}`,
			want: want{items: []string{`{"a":"\"}\\"}`, `{"b":["\\\\","{"]}`}, chunks: []int{2}},
		},
		"Managed": {
			reason: "The managers of an object's fields are left out.",
			text:   `{"items":[{"kind":"A","metadata":{"managedFields":[{"f:a":{}}],"name":"x"},"spec":{"managedFields":[1]}}]}`,
			want:   want{items: []string{`{"kind":"A","metadata":{"managedFields":null,"name":"x"},"spec":{"managedFields":[1]}}`}, chunks: []int{1}},
		},
		"Nested": {
			reason: "A field of an item is not a field of the list.",
			text:   `{"items":[{"metadata":{"continue":"y"},"items":["}"]}]}`,
			want:   want{items: []string{`{"metadata":{"continue":"y"},"items":["}"]}`}, chunks: []int{1}},
		},
		"Array": {
			reason: "A value other than an object is not a list.",
			text:   `[]`, want: want{fails: "cannot decode a list: the answer is not a list: expected {, got ["},
		},
		"NoText": {reason: "An empty answer is not a list.", text: ``, want: want{fails: "cannot decode a list: unexpected EOF"}},
		"Cut": {
			reason: "A list that ends within an object is not complete, and the objects before it are handed over.", text: `{"items":[{"a":1},{"a"`,
			want: want{items: []string{`{"a":1}`}, chunks: []int{1}, fails: "cannot decode a list: unexpected EOF"},
		},
		"CutItems": {
			reason: "A list that ends between two objects is not complete.",
			text:   `{"items":[{"a":1}`, want: want{items: []string{`{"a":1}`}, chunks: []int{1}, fails: "cannot decode a list: unexpected EOF"},
		},
		"CutEnd": {reason: "A list that ends before its token is not complete.", text: `{"items":[]`, want: want{fails: "cannot decode a list: unexpected EOF"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			// Every read brings one byte, so that each value arrives in parts.
			got := want{}
			token, err := Read(iotest.OneByteReader(strings.NewReader(tc.text)), func(chunk []json.RawMessage) {
				got.chunks = append(got.chunks, len(chunk))
				for _, item := range chunk {
					got.items = append(got.items, string(item))
				}
			})
			if got.token = token; err != nil {
				got.fails = err.Error()
			}
			if diff := cmp.Diff(tc.want, got, cmp.AllowUnexported(want{})); diff != "" {
				t.Errorf("\n%s\nRead(%.80s): -want, +got:\n%s", tc.reason, tc.text, diff)
			}
		})
	}
}

// TestReadEarly shows that objects are handed over before the rest has arrived.
func TestReadEarly(t *testing.T) {
	r, w := io.Pipe()
	visited, done := make(chan []json.RawMessage, 3), make(chan error, 1)
	go func() {
		_, err := Read(r, func(chunk []json.RawMessage) { visited <- slices.Clone(chunk) })
		done <- err
	}()
	if _, err := io.WriteString(w, `{"items":[`+strings.Join(manyItems()[:chunkSize], ",")+`,`); err != nil {
		t.Fatal(err)
	}
	if got := <-visited; len(got) != chunkSize {
		t.Errorf("Read(...): the first %d objects were written, and %d handed over", chunkSize, len(got))
	}
	if _, err := io.WriteString(w, `{}]}`); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err != nil {
		t.Errorf("Read(...): %v", err)
	}
}
