package stats

import "testing"

// TestCountChanged compares resource versions before and after a time.
func TestCountChanged(t *testing.T) {
	previous := map[string]string{"a": "1", "b": "2", "deleted": "3"}
	cases := map[string]struct {
		reason  string
		current map[string]string
		want    float64
	}{
		"Same":    {reason: "An object that kept its resource version is not counted.", current: map[string]string{"a": "1", "b": "2"}},
		"Written": {reason: "A written object has another resource version.", current: map[string]string{"a": "1", "b": "4"}, want: 1},
		"Created": {reason: "A new object was written.", current: map[string]string{"a": "1", "b": "2", "c": "5"}, want: 1},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := CountChanged(previous, tc.current); got != tc.want {
				t.Errorf("\n%s\nCountChanged(...): want %v, got %v", tc.reason, tc.want, got)
			}
		})
	}
}
