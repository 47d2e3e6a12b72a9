package git

import (
	"bytes"
	"context"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/intentplane/intentplane/provider/git/failure"
	"github.com/intentplane/intentplane/test/gitserver"
)

// plant makes a tree of raw lines the branch's tip, beside the existing entries. No git command would write it.
func plant(t *testing.T, s *gitserver.Server, lines func(blob, tree, commit string) []string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "x")
	write := func(content []byte) {
		if err := os.WriteFile(file, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write([]byte("evil"))
	blob, tip := run(t, s, "hash-object", "-w", file), run(t, s, "rev-parse", gitserver.Branch)
	raw := bytes.Buffer{}
	for _, l := range lines(blob, tip+"^{tree}", tip) {
		head, ref, _ := strings.Cut(l, "\x00")
		id, err := hex.DecodeString(run(t, s, "rev-parse", ref))
		if err != nil {
			t.Fatal(err)
		}
		raw.WriteString(head + "\x00")
		raw.Write(id)
	}
	write(raw.Bytes())
	tree := run(t, s, "hash-object", "-w", "-t", "tree", "--literally", file)
	commit := run(t, s, "-c", "user.name=x", "-c", "user.email=x@example.org", "commit-tree", "-m", "Evil", "-p", tip, tree)
	run(t, s, "update-ref", "refs/heads/"+gitserver.Branch, commit)
}

func TestHostileTrees(t *testing.T) {
	cases := map[string]struct {
		reason string
		lines  func(blob, tree, commit string) []string
		path   string
		want   failure.Class
	}{
		"DotGit": {
			reason: "A .git directory in a tree is not entered.",
			lines:  func(_, tree, _ string) []string { return []string{"40000 .git\x00" + tree, "40000 ours\x00" + tree} },
		},
		"Up": {
			reason: "An entry named after the parent directory is not followed.",
			lines:  func(_, tree, _ string) []string { return []string{"40000 ..\x00" + tree, "40000 .\x00" + tree} },
		},
		"Slash": {
			reason: "An entry with a slash in its name is not a path.",
			lines:  func(blob, _, _ string) []string { return []string{"100644 sites/a\x00" + blob} },
		},
		"Link": {
			reason: "A symbolic link is not followed.",
			lines:  func(blob, _, _ string) []string { return []string{"120000 sites\x00" + blob} }, want: failure.ClassOccupied,
		},
		"Submodule": {
			reason: "A submodule is not entered.",
			lines:  func(_, _, commit string) []string { return []string{"160000 sites\x00" + commit} }, want: failure.ClassOccupied,
		},
		"Mode": {
			reason: "An entry with an unknown mode is not a directory.",
			lines:  func(blob, _, _ string) []string { return []string{"777 sites\x00" + blob} }, want: failure.ClassOccupied,
		},
		"NotATree": {
			reason: "A file that says it is a directory cannot be read.",
			lines:  func(blob, _, _ string) []string { return []string{"40000 sites\x00" + blob} }, want: failure.ClassUnknown,
		},
		"Twice": {
			reason: "Of two directories with the same name the first directory is read.",
			lines:  func(_, tree, _ string) []string { return []string{"40000 sites\x00" + tree, "40000 sites\x00" + tree} },
		},
		"Alone": {
			reason: "A path that is refused stays refused, whatever the tree holds.",
			lines:  func(_, tree, _ string) []string { return []string{"40000 .git\x00" + tree} }, path: ".git/hooks", want: failure.ClassInvalid,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := serve(t, map[string]string{"README.md": "hello"})
			plant(t, s, tc.lines)
			previous := run(t, s, "ls-tree", gitserver.Branch)
			c := client(t, s)
			path := tc.path
			if path == "" {
				path = "sites/a/ns/web"
			}
			err := pushOnce(c, put(path, files("x", "1")))
			if diff := cmp.Diff(tc.want, failure.ClassOf(err)); diff != "" {
				t.Fatalf("\n%s\nPush(): -want, +got:\n%s\n%v", tc.reason, diff, err)
			}
			for line := range strings.Lines(previous) {
				ours := strings.HasSuffix(strings.TrimSpace(line), "\tsites")
				if current := run(t, s, "ls-tree", gitserver.Branch); !ours && !strings.Contains(current+"\n", line) {
					t.Errorf("\n%s\nExisting entries stay unchanged\nls-tree: no %q in\n%s", tc.reason, line, current)
				}
			}
		})
	}
}

// pushOnce looks, plans and pushes.
func pushOnce(c *Client, ch Change) error {
	s, err := c.Look(context.Background(), nil)
	if err != nil {
		return err
	}
	p, err := Plan(context.Background(), s, change(ch))
	if err != nil {
		return err
	}
	_, err = c.Push(context.Background(), p)
	return err
}

// tampering serves a repository, and changes the answers to requests whose path ends so.
func tampering(t *testing.T, s *gitserver.Server, suffix string, change func([]byte) []byte) *Client {
	t.Helper()
	h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		req, err := http.NewRequestWithContext(r.Context(), r.Method, strings.TrimSuffix(s.URL(""), "/.git")+strings.Replace(r.URL.String(), "/team/repo/", "/"+repo+".git/", 1), r.Body)
		if err != nil {
			t.Error(err)
			return
		}
		req.Header, req.ContentLength = r.Header, r.ContentLength
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Error(err)
			return
		}
		defer res.Body.Close()
		b, err := io.ReadAll(res.Body)
		if err != nil {
			t.Error(err)
		}
		if strings.HasSuffix(r.URL.Path, suffix) {
			b = change(b)
		}
		w.Header().Set("Content-Type", res.Header.Get("Content-Type"))
		w.WriteHeader(res.StatusCode)
		_, _ = w.Write(b)
	}))
	t.Cleanup(h.Close)
	return clientAt(t, h.URL)
}

// inOnePiece returns an answer with its pack in packets as large as they may be. A busy server sends it in smaller packets, and the first packet may end within
// the header of the pack: a test that changes the header would change the length of the next packet.
func inOnePiece(b []byte) []byte {
	const limit = 65515
	header, pack := []byte{}, []byte{}
	for len(b) >= 4 {
		size, err := strconv.ParseUint(string(b[:4]), 16, 16)
		if err != nil || int(size) > len(b) {
			break
		}
		packet := b[:max(4, int(size))]
		switch b = b[len(packet):]; {
		case len(packet) > 5 && packet[4] == 1:
			pack = append(pack, packet[5:]...)
		case len(pack) == 0:
			header = append(header, packet...)
		}
	}
	for piece := range slices.Chunk(pack, limit) {
		header = append(header, fmt.Sprintf("%04x\x01%s", len(piece)+5, piece)...)
	}
	return append(header, "0000"...)
}

// TestInOnePiece has the header of a pack in two packets.
func TestInOnePiece(t *testing.T) {
	const answer, want = "0008NAK\n000b\x01PACK\x00\x00000b\x02noise\n000b\x01\x00\x02\xff\xff\xff\xff0000", "0008NAK\n0011\x01PACK\x00\x00\x00\x02\xff\xff\xff\xff0000"
	if diff := cmp.Diff(want, string(inOnePiece([]byte(answer)))); diff != "" {
		t.Errorf("inOnePiece(...): -want, +got:\n%s", diff)
	}
}

func TestHostileAnswers(t *testing.T) {
	noise := func(from int) func(b []byte) []byte {
		return func(b []byte) []byte {
			for i := range b {
				if i > len(b)*from/10 && i < len(b)-30 {
					b[i] ^= 0x55
				}
			}
			return b
		}
	}
	pack := func(b []byte) int { return bytes.Index(b, []byte("PACK")) }
	cases := map[string]struct {
		reason string
		suffix string
		change func(b []byte) []byte
		want   []failure.Class
	}{
		"Same": {reason: "An answer that is not changed is read.", suffix: "/git-upload-pack", change: func(b []byte) []byte { return b }, want: []failure.Class{""}},
		"RefUp": {reason: "A ref whose name leads out of refs is ignored.", suffix: "/info/refs", change: func(b []byte) []byte {
			line := fmt.Sprintf("%s refs/heads/../../evil\n", strings.Repeat("a", 40))
			return append(bytes.TrimSuffix(b, []byte("0000")), fmt.Sprintf("%04x%s0000", len(line)+4, line)...)
		}, want: []failure.Class{""}},
		"Cut": {
			reason: "A pack that ends in the middle is a transient failure.",
			suffix: "/git-upload-pack", change: func(b []byte) []byte { return b[:pack(b)+40] }, want: []failure.Class{failure.ClassTransient},
		},
		// The sizes in noise are arbitrary.
		"Noise": {
			reason: "A pack with broken content is a transient failure.",
			suffix: "/git-upload-pack", change: noise(7), want: []failure.Class{failure.ClassTransient, failure.ClassTooLarge},
		},
		"Count":     {reason: "A pack with fewer objects than it says is a transient failure.", suffix: "/git-upload-pack", change: func(b []byte) []byte { b = inOnePiece(b); b[pack(b)+9] = 1; return b }, want: []failure.Class{failure.ClassTransient, failure.ClassTooLarge}},
		"Many":      {reason: "A pack that says it has four billion objects is too large.", suffix: "/git-upload-pack", change: func(b []byte) []byte { b = inOnePiece(b); copy(b[pack(b)+8:], "\xff\xff\xff\xff"); return b }, want: []failure.Class{failure.ClassTooLarge}},
		"OtherPack": {reason: "A pack of another version is a transient failure.", suffix: "/git-upload-pack", change: func(b []byte) []byte { b = inOnePiece(b); b[pack(b)+7] = 9; return b }, want: []failure.Class{failure.ClassTransient}},
		"Empty": {
			reason: "An answer without a pack is a failure.",
			suffix: "/git-upload-pack", change: func([]byte) []byte { return nil }, want: []failure.Class{failure.ClassTransient},
		},
		"Checksum": {reason: "A pack whose checksum does not match is a transient failure.", suffix: "/git-upload-pack", change: func(b []byte) []byte { b[len(b)-10] ^= 1; return b }, want: []failure.Class{failure.ClassTransient}},
		"Page": {
			reason: "A page for people is not a list of refs.",
			suffix: "/git-upload-pack", change: func([]byte) []byte { return []byte("<html>Log in</html>") },
			want: []failure.Class{failure.ClassTransient},
		},
		"Refs": {
			reason: "A list of refs is not a pack.",
			suffix: "/info/refs", change: func([]byte) []byte { return []byte("<html>Log in</html>") },
			want: []failure.Class{failure.ClassTransient},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := serve(t, map[string]string{"README.md": "hello"})
			_, err := tampering(t, s, tc.suffix, tc.change).Look(context.Background(), nil)
			got := failure.ClassOf(err)
			if !slices.Contains(tc.want, got) {
				t.Errorf("\n%s\nLook(): want one of %q, got %q: %v", tc.reason, tc.want, got, err)
			}
		})
	}
}

func TestFullDisk(t *testing.T) {
	s := serve(t, map[string]string{"README.md": "hello"})
	hook(t, s, "pre-receive", `echo "fatal: write error: No space left on device" >&2; exit 1`)
	err := pushOnce(client(t, s), delivery(1))
	if diff := cmp.Diff(failure.ClassPolicy, failure.ClassOf(err)); diff != "" {
		t.Errorf("\nA hook that fails refuses, whatever it says\nPush(): -want, +got:\n%s", diff)
	}
	unhook(t, s, "pre-receive")
	// Where nothing can be written, nothing is unpacked.
	objects := filepath.Join(s.Path(repo), "objects")
	if err := os.Rename(objects, objects+"-full"); err != nil {
		t.Fatal(err)
	}
	err = pushOnce(client(t, s), delivery(1))
	if class := failure.ClassOf(err); class != failure.ClassTransient && class != failure.ClassUnknown && class != failure.ClassNotFound {
		t.Errorf("\nA server in trouble is tried again\nPush(): %s, %v", class, err)
	}
}
