package transport

import (
	"net"
	"testing"

	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/knownhosts"

	"github.com/intentplane/intentplane/test/gitserver"
)

func TestCheckKnownHosts(t *testing.T) {
	const line = "git.example.org ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl\n"
	cases := map[string]struct {
		reason string
		lines  string
		want   bool
	}{
		"Line":         {reason: "Known hosts of one line are accepted.", lines: line, want: true},
		"CommentFirst": {reason: "A comment may come first.", lines: "# ours\n" + line, want: true},
		"CommentLast":  {reason: "A comment at the end is accepted.", lines: line + "# ours\n", want: true},
		"CommentsOnly": {reason: "Known hosts with comments only are refused.", lines: "# ours\n"},
		"Empty":        {reason: "Empty known hosts are refused.", lines: "\n"},
		"Malformed":    {reason: "An unreadable line is refused.", lines: line + "git.example.org ssh-ed25519 ???\n"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if err := checkKnownHosts([]byte(tc.lines)); (err == nil) != tc.want {
				t.Errorf("\n%s\ncheckKnownHosts(...): %v", tc.reason, err)
			}
		})
	}
}

// TestKnownHostsNeedNoDisk reads known hosts where no file can be written, as in the provider's container.
func TestKnownHostsNeedNoDisk(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir()+"/missing")
	signer, _, err := gitserver.NewSSHKey()
	if err != nil {
		t.Fatal(err)
	}
	line := knownhosts.Line([]string{"[git.example.org]:2222"}, signer.PublicKey())
	ca := "@cert-authority *.example.org " + string(ssh.MarshalAuthorizedKey(signer.PublicKey()))
	hosts, err := readKnownHosts([]byte(line + "\n" + ca))
	if err != nil {
		t.Fatalf("readKnownHosts(...): %v", err)
	}
	if err := hosts.checkHostKey("git.example.org:2222", &net.TCPAddr{}, signer.PublicKey()); err != nil {
		t.Errorf("\nThe key is known\ncheck(...): %v", err)
	}
	otherKey, _, err := gitserver.NewSSHKey()
	if err != nil {
		t.Fatal(err)
	}
	if err := hosts.checkHostKey("git.example.org:2222", &net.TCPAddr{}, otherKey.PublicKey()); err == nil {
		t.Error("\nAnother is not\ncheck(...): no error")
	}
}
