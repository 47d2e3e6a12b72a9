package engines

import "testing"

func TestIsSameRepository(t *testing.T) {
	const ours = "https://git.example.org/org/fleet.git"
	cases := map[string]struct {
		reason string
		url    string
		want   bool
	}{
		"Same":       {reason: "A repository equals itself under the same URL.", url: ours, want: true},
		"Spelling":   {reason: "Case of the host, the default port, .git and slashes at the end do not matter.", url: "HTTPS://Git.Example.org:443/org/fleet/", want: true},
		"SSH":        {reason: "An engine may read the repository over SSH.", url: "ssh://git@git.example.org/org/fleet", want: true},
		"Scp":        {reason: "An engine may use the short form of an SSH URL.", url: "git@git.example.org:org/fleet.git", want: true},
		"OtherHost":  {reason: "The same path on another host is another repository.", url: "https://git.example.com/org/fleet"},
		"OtherPath":  {reason: "Another path on the same host is another repository.", url: "https://git.example.org/org/fleet2"},
		"OtherPort":  {reason: "Another port is another server.", url: "https://git.example.org:8443/org/fleet"},
		"CaseOfPath": {reason: "Paths that differ by case are different repositories.", url: "https://git.example.org/Org/fleet"},
		"Empty":      {reason: "An empty URL matches no repository.", url: ""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := isSameRepository(tc.url, ours); got != tc.want {
				t.Errorf("\n%s\nsameRepository(%q): want %t, got %t", tc.reason, tc.url, tc.want, got)
			}
		})
	}
}
