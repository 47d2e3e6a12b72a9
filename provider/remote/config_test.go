package remote

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	configv1alpha1 "github.com/intentplane/intentplane/apis/config/v1alpha1"
)

func TestInterval(t *testing.T) {
	cases := map[string]struct {
		reason, interval string
		want             time.Duration
	}{
		"Shorter": {reason: "A shorter interval of the configuration applies.", interval: "30s", want: 30 * time.Second},
		"Longer":  {reason: "A longer interval of the configuration does not apply.", interval: "1h", want: time.Minute},
		"Absent":  {reason: "Without an interval in the configuration the limit applies.", want: time.Minute},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c := Config{Spec: &configv1alpha1.ProviderConfigSpec{}}
			c.Spec.Git.Interval = tc.interval
			if diff := cmp.Diff(tc.want, c.Interval(time.Minute)); diff != "" {
				t.Errorf("\n%s\nInterval(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestReadConfigWithoutReference reads the configuration of an object that names none.
func TestReadConfigWithoutReference(t *testing.T) {
	_, err := ReadConfig(t.Context(), newOpener(t).Kube, nil, "team-a")
	if err == nil || !IsUnusable(err) || string(ReasonOf(err)) != "Invalid" {
		t.Errorf("\nAn object without a reference has no configuration.\nReadConfig(...): got %v", err)
	}
}
