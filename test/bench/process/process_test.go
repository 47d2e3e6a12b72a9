package process

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParseMebibytes(t *testing.T) {
	const status = "Name:\tprovider\nVmHWM:\t  4096 kB\nVmRSS:\t  2048 kB\n"
	cases := map[string]struct {
		reason string
		field  string
		want   float64
		err    string
	}{
		"Peak":    {reason: "The value of a field is in MiB.", field: "VmHWM", want: 4},
		"Current": {reason: "Other fields are skipped.", field: "VmRSS", want: 2},
		"Missing": {reason: "A missing field is an error.", field: "VmSwap", err: "the kernel has no VmSwap"},
		"Text":    {reason: "A field that is not a number is an error.", field: "Name", err: `cannot parse Name: strconv.ParseFloat: parsing "provider": invalid syntax`},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			message := ""
			got, err := parseMebibytes(status, tc.field)
			if err != nil {
				message = err.Error()
			}
			if diff := cmp.Diff([]any{tc.want, tc.err}, []any{got, message}); diff != "" {
				t.Errorf("\n%s\nparseMebibytes(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
