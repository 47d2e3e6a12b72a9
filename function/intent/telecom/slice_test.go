package telecom

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/intentplane/intentplane/function/intent/document"
)

func TestNormalizeSlice(t *testing.T) {
	cases := map[string]struct {
		reason  string
		slice   Slice
		service string
		want    Slice
		prob    *document.Problem
	}{
		"None": {
			reason:  "A service without a slice needs no slice type.",
			service: GenericType,
		},
		"Case": {
			reason: "A slice differentiator is written in lower case.",
			slice:  Slice{SST: new(int32(7)), SD: "00000A", PLMN: "00101"}, service: GenericType,
			want: Slice{SST: new(int32(7)), SD: "00000a", PLMN: "00101"},
		},
		"Class": {
			reason: "A service of a class needs no slice type, since the class has one.",
			slice:  Slice{PLMN: "00101"}, service: "embb",
			want: Slice{PLMN: "00101"},
		},
		"Digits": {
			reason: "A slice differentiator has six hexadecimal digits.",
			slice:  Slice{SST: new(int32(1)), SD: "12345"}, service: GenericType,
			want: Slice{SST: new(int32(1)), SD: "12345"},
			prob: document.Problemf("slice.sd", "must be six hexadecimal digits"),
		},
		"Network": {
			reason: "The code of a mobile network has five or six digits.",
			slice:  Slice{SST: new(int32(1)), PLMN: "1"}, service: GenericType,
			want: Slice{SST: new(int32(1)), PLMN: "1"},
			prob: document.Problemf("slice.plmn", "must be five or six digits"),
		},
		"NoType": {
			reason: "A slice of a service without a class needs a slice type.",
			slice:  Slice{PLMN: "00101"}, service: GenericType,
			want: Slice{PLMN: "00101"},
			prob: document.Problemf("slice.sst", "must be set: the service's type does not say it"),
		},
		"Range": {
			reason: "A slice type is a number of one byte.",
			slice:  Slice{SST: new(int32(256))}, service: GenericType,
			want: Slice{SST: new(int32(256))},
			prob: document.Problemf("slice.sst", "must be from 0 to 255"),
		},
		"OtherClass": {
			reason: "The slice type of one class contradicts a service of another class.",
			slice:  Slice{SST: new(int32(2))}, service: "embb",
			want: Slice{SST: new(int32(2))},
			prob: document.Problemf("slice.sst", "2 is that of URLLC, but the service's type is embb"),
		},
		"OwnNumber": {
			reason: "A service of a class may have a slice type that belongs to no class.",
			slice:  Slice{SST: new(int32(130))}, service: "mmtc",
			want: Slice{SST: new(int32(130))},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := tc.slice
			if diff := cmp.Diff(tc.prob, got.Normalize(tc.service)); diff != "" {
				t.Errorf("\n%s\nNormalize(%q): -want problem, +got problem:\n%s", tc.reason, tc.service, diff)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nNormalize(%q): -want, +got:\n%s", tc.reason, tc.service, diff)
			}
		})
	}
}
