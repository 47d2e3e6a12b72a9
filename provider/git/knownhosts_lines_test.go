package git

import "testing"

func TestCheckKnownHosts(t *testing.T) {
	const line = "git.example.org ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl\n"
	cases := map[string]struct {
		reason string
		lines  string
		want   bool
	}{
		"Line":         {reason: "One line.", lines: line, want: true},
		"CommentFirst": {reason: "A comment may come first.", lines: "# ours\n" + line, want: true},
		"CommentLast":  {reason: "And at the end.", lines: line + "# ours\n", want: true},
		"CommentsOnly": {reason: "Comments trust nobody.", lines: "# ours\n"},
		"Empty":        {reason: "Neither does nothing.", lines: "\n"},
		"Malformed":    {reason: "What cannot be read is refused.", lines: line + "git.example.org ssh-ed25519 ???\n"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if err := checkKnownHosts([]byte(tc.lines)); (err == nil) != tc.want {
				t.Errorf("\n%s\ncheckKnownHosts(...): %v", tc.reason, err)
			}
		})
	}
}
