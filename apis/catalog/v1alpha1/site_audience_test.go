package v1alpha1

import "testing"

func TestUsableFrom(t *testing.T) {
	cases := map[string]struct {
		reason  string
		allowed []string
		want    string
	}{
		"None":    {reason: "A Site that allows no namespace is usable from none.", want: "None"},
		"One":     {reason: "A Site that allows one namespace has its name.", allowed: []string{"team-a"}, want: "team-a"},
		"Two":     {reason: "A Site that allows two namespaces is asked for by every namespace.", allowed: []string{"team-a", "team-b"}, want: "Several"},
		"Every":   {reason: "A Site that allows every namespace is asked for by every namespace.", allowed: []string{"*"}, want: "Several"},
		"Invalid": {reason: "An invalid name of a namespace never becomes the value of the label.", allowed: []string{"Team A"}, want: "Several"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := &Site{Spec: SiteSpec{AllowedNamespaces: tc.allowed}}
			s.SetLabels(map[string]string{"env": "prod"})
			if got := s.UsableFrom(); got != tc.want {
				t.Errorf("\n%s\nUsableFrom(): %q, want %q", tc.reason, got, tc.want)
			}
			if first, second := s.SetUsableFrom(), s.SetUsableFrom(); !first || second || s.GetLabels()[LabelUsableFrom] != tc.want || s.GetLabels()["env"] != "prod" {
				t.Errorf("\n%s\nSetUsableFrom(): %v, then %v, labels %v", tc.reason, first, second, s.GetLabels())
			}
		})
	}
}
