package git

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/google/go-cmp/cmp"

	"github.com/intentplane/intentplane/provider/git/failure"
	"github.com/intentplane/intentplane/test/gitserver"
)

// TestOddities delivers twice to Git's own server, with a commit of another writer in between, and compares all that is not ours. docs/operations/repositories.md
// has the same rows.
func TestOddities(t *testing.T) {
	settings := func(all ...string) func(*testing.T, *gitserver.Server) {
		return func(t *testing.T, s *gitserver.Server) {
			t.Helper()
			for i := 0; i < len(all); i += 2 {
				run(t, s, "config", all[i], all[i+1])
			}
		}
	}
	cases := map[string]struct {
		reason  string
		seed    map[string]string
		options []gitserver.Option
		prepare func(t *testing.T, s *gitserver.Server)
		branch  string
		class   failure.Class
		detail  string
		words   string
	}{
		"MultiACK": {reason: "A server may demand multi_ack, as Azure DevOps does.", options: []gitserver.Option{gitserver.WithMultiACK()}},
		"OldModes": {
			reason: "Directories with mode 040000 and files with 100664 are written with today's modes, so that receive.fsckObjects takes the new tree.",
			prepare: func(t *testing.T, s *gitserver.Server) {
				t.Helper()
				commitTree(t, s, "100664 f", "040000 old")
				settings("receive.fsckObjects", "true")(t, s)
			},
		},
		"OldModesUnchecked": {
			reason:  "A server that checks no objects gets today's modes too.",
			prepare: func(t *testing.T, s *gitserver.Server) { t.Helper(); commitTree(t, s, "100775 f", "040000 old") },
		},
		"FlawedTree": {
			reason: "A flaw that the branch had before is refused by receive.fsckObjects in the server's words, since it belongs to others.",
			prepare: func(t *testing.T, s *gitserver.Server) {
				t.Helper()
				commitTree(t, s, "40000 .GIT", "100644 f")
				settings("receive.fsckObjects", "true")(t, s)
			},
			class: failure.ClassPolicy, words: "hasDotgit",
		},
		"SHA256":      {reason: "A repository of SHA-256 is refused by name.", prepare: func(t *testing.T, s *gitserver.Server) { t.Helper(); makeSHA256(t, s, true) }, class: failure.ClassInvalid, detail: "its object format is SHA-256"},
		"SHA256Empty": {reason: "An empty repository of SHA-256 is refused by name.", prepare: func(t *testing.T, s *gitserver.Server) { t.Helper(); makeSHA256(t, s, false) }, class: failure.ClassInvalid, detail: "its object format is SHA-256"},
		"HookWords": {
			reason: "The words of a hook reach the user without control characters.",
			prepare: func(t *testing.T, s *gitserver.Server) {
				t.Helper()
				hook(t, s, "pre-receive", `printf '\033[31mno ticket\033[0m in the message\n' >&2; exit 1`)
			},
			class: failure.ClassPolicy, words: "no ticket",
		},
		"ProtectedBranch": {
			reason: "A protected branch is a rule of the server.",
			prepare: func(t *testing.T, s *gitserver.Server) {
				t.Helper()
				hook(t, s, "update", `[ "$1" != refs/heads/main ] || { echo "GH006: Protected branch update failed" >&2; exit 1; }`)
			},
			class: failure.ClassPolicy, detail: "cannot push to refs/heads/main: hook declined", words: "GH006",
		},
		"TalkingHook": {
			reason: "A hook that fails after the push has no say, whatever it prints.",
			prepare: func(t *testing.T, s *gitserver.Server) {
				t.Helper()
				hook(t, s, "post-receive", `seq 1 5000 >&2; exit 1`)
			},
		},
		"LFS": {
			reason: "Git LFS is a filter of working copies: files are stored as they are delivered.",
			seed: map[string]string{
				".gitattributes": "*.yaml filter=lfs diff=lfs merge=lfs -text\n",
				"big.yaml":       "version https://git-lfs.github.com/spec/v1\noid sha256:" + strings.Repeat("a", 64) + "\nsize 5\n",
			},
		},
		"CRLF": {
			reason: "Ends of lines are converted in working copies alone.",
			seed:   map[string]string{".gitattributes": "* text eol=crlf\n", "windows.txt": "a\r\nb\r\n"},
		},
		"Submodule": {reason: "A submodule beside a delivery stays.", seed: map[string]string{".gitmodules": "[submodule \"m\"]\n\tpath = m\n\turl = https://git.example.org/m\n"}, prepare: func(t *testing.T, s *gitserver.Server) { t.Helper(); addEntry(t, s, "160000", "m") }},
		"SubmoduleInTheWay": {
			reason:  "A submodule has no directory for files of ours.",
			prepare: func(t *testing.T, s *gitserver.Server) { t.Helper(); addEntry(t, s, "160000", "sites/a") },
			class:   failure.ClassOccupied, detail: "a file, a link or a submodule is there",
		},
		"LinkInTheWay": {
			reason: "A symbolic link is not followed.", prepare: func(t *testing.T, s *gitserver.Server) { t.Helper(); addEntry(t, s, "120000", "sites") },
			class: failure.ClassOccupied, detail: "a file, a link or a submodule is there",
		},
		"Executable": {reason: "Executable files and links beside a delivery stay.", prepare: func(t *testing.T, s *gitserver.Server) {
			t.Helper()
			addEntry(t, s, "100755", "run")
			addEntry(t, s, "120000", "sites/link")
		}},
		"Names": {
			reason:  "Names that differ by case, by their form of Unicode, or that are not UTF-8 stay.",
			seed:    map[string]string{"Sites/A": "1", "sites/A": "2", "\u00e9": "3", "e\u0301": "4", "a b\"c": "5"},
			prepare: func(t *testing.T, s *gitserver.Server) { t.Helper(); addEntry(t, s, "100644", "caf\xe9") },
		},
		"RenamedDefault": {
			reason:  "A branch that was renamed is not made again beside others.",
			prepare: func(t *testing.T, s *gitserver.Server) { t.Helper(); run(t, s, "branch", "-m", "main", "trunk") },
			class:   failure.ClassNotFound, detail: "cannot write to the branch: it does not exist, while other branches do",
		},
		"RenamedDefaultNamed": {reason: "The branch counts that the configuration names.", branch: "trunk", prepare: func(t *testing.T, s *gitserver.Server) { t.Helper(); run(t, s, "branch", "-m", "main", "trunk") }},
		"OtherDefault": {reason: "The default branch of a repository may be another branch, or may not exist.", prepare: func(t *testing.T, s *gitserver.Server) {
			t.Helper()
			run(t, s, "symbolic-ref", "HEAD", "refs/heads/gone")
		}},
		"BranchWithSlash": {reason: "A branch may have slashes in its name.", branch: "release/2026", prepare: func(t *testing.T, s *gitserver.Server) { t.Helper(); run(t, s, "branch", "release/2026", "main") }},
		"SymbolicBranch": {
			reason: "A push to a symbolic ref moves its target branch.",
			prepare: func(t *testing.T, s *gitserver.Server) {
				t.Helper()
				run(t, s, "branch", "-m", "main", "trunk")
				run(t, s, "symbolic-ref", "refs/heads/main", "refs/heads/trunk")
			},
		},
		"Shallow": {reason: "A server may have the newest commit alone.", prepare: func(t *testing.T, s *gitserver.Server) {
			t.Helper()
			foreignCommit(t, s, gitserver.Branch)
			writeFile(t, filepath.Join(s.Path(repo), "shallow"), run(t, s, "rev-parse", "main")+"\n")
		}},
		"HugeAdvertisement": {
			reason: "A list of refs above 8 MiB is refused.", prepare: func(t *testing.T, s *gitserver.Server) { t.Helper(); addRefs(t, s, 200_000) },
			class: failure.ClassTooLarge, detail: "the server sent more than fits",
		},
		"ManyRefs": {reason: "A list of 20,000 refs is read.", prepare: func(t *testing.T, s *gitserver.Server) { t.Helper(); addRefs(t, s, 20_000) }},
		"Tags": {reason: "Tags of tags, of trees and of files mean nothing to a delivery.", prepare: func(t *testing.T, s *gitserver.Server) {
			t.Helper()
			for _, args := range [][]string{{"a", "main"}, {"b", "a"}, {"c", "main^{tree}"}, {"d", "main:README.md"}} {
				run(t, s, "-c", "user.name=x", "-c", "user.email=x@example.org", "tag", "-a", "-m", "x", args[0], args[1])
			}
		}},
		"Merges": {reason: "Commits may have several parents, and messages in other encodings.", prepare: func(t *testing.T, s *gitserver.Server) {
			t.Helper()
			foreignCommit(t, s, gitserver.Branch)
			id := run(t, s, "-c", "user.name=J\xf6rg", "-c", "user.email=x@example.org", "-c", "i18n.commitEncoding=ISO-8859-1", "commit-tree", "-m", "gr\xfc\xdfe", "-p", "main", "-p", "main~1", "main^{tree}")
			run(t, s, "update-ref", "refs/heads/main", id)
		}},
		"OddCommits": {
			reason: "Commits may have authors, dates and headers that Git's own commands would not write.",
			prepare: func(t *testing.T, s *gitserver.Server) {
				t.Helper()
				commitText(t, s, "author <> -1 +9900\ncommitter J\xf6rg <x> 99999999999 -0000\nencoding x\ngpgsig -----BEGIN PGP SIGNATURE-----\n \n -----END\nodd\n\n")
			},
		},
		"EmptyDirectory": {
			reason: "A directory without files stays, although Git's own commands write none.",
			prepare: func(t *testing.T, s *gitserver.Server) {
				t.Helper()
				blob, empty := run(t, s, "rev-parse", "main:README.md"), run(t, s, "hash-object", "-t", "tree", "-w", os.DevNull)
				tree := writeTree(t, s, []string{"40000 empty", "100644 f"}, []string{empty, blob})
				run(t, s, "update-ref", "refs/heads/main", commitOf(t, s, gitserver.Branch, tree))
			},
		},
		"LongName": {
			reason: "The name of a file may be longer than file systems allow.",
			prepare: func(t *testing.T, s *gitserver.Server) {
				t.Helper()
				commitTree(t, s, "100644 "+strings.Repeat("n", 3000), "40000 sites")
			},
		},
		"TagOfBranch": {reason: "A tag may have the name of the branch.", prepare: func(t *testing.T, s *gitserver.Server) {
			t.Helper()
			run(t, s, "update-ref", "refs/tags/main", commitOf(t, s, gitserver.Branch, run(t, s, "hash-object", "-t", "tree", "-w", os.DevNull)))
		}},
		"BranchMarks": {
			reason:  "A branch may have marks in its name that are others in a URL.",
			branch:  "fix#1%20+x",
			prepare: func(t *testing.T, s *gitserver.Server) { t.Helper(); run(t, s, "branch", "fix#1%20+x", "main") },
		},
		"DetachedHead": {reason: "The head of a repository may be a commit.", prepare: func(t *testing.T, s *gitserver.Server) {
			t.Helper()
			writeFile(t, filepath.Join(s.Path(repo), "HEAD"), run(t, s, "rev-parse", "main")+"\n")
		}},
		"CheckedOut": {
			reason:  "A repository with a working copy refuses pushes to its branch.",
			prepare: settings("core.bare", "false"), class: failure.ClassPolicy, detail: "cannot push to refs/heads/main: branch is currently checked out",
		},
		"CheckedOutIgnored": {reason: "A repository with a working copy may accept pushes to its branch.", prepare: settings("core.bare", "false", "receive.denyCurrentBranch", "ignore")},
		"KeptPacks":         {reason: "A server may keep each pack as it arrives.", prepare: settings("receive.unpackLimit", "1", "transfer.unpackLimit", "1")},
		"Alternates": {reason: "Objects may lie in another repository.", prepare: func(t *testing.T, s *gitserver.Server) {
			t.Helper()
			objects, shared := filepath.Join(s.Path(repo), "objects"), filepath.Join(t.TempDir(), "shared")
			for _, err := range []error{os.Rename(objects, shared), os.MkdirAll(filepath.Join(objects, "info"), 0o750), os.MkdirAll(filepath.Join(objects, "pack"), 0o750)} {
				if err != nil {
					t.Fatal(err)
				}
			}
			writeFile(t, filepath.Join(objects, "info", "alternates"), shared+"\n")
		}},
		"HiddenBranch": {
			reason: "A branch that the server hides is not made again.", prepare: settings("transfer.hideRefs", "refs/heads/main"),
			class: failure.ClassPolicy, detail: "deny updating a hidden ref",
		},
		"EmptyTree": {reason: "A branch may have no files.", prepare: func(t *testing.T, s *gitserver.Server) {
			t.Helper()
			run(t, s, "update-ref", "refs/heads/main", commitOf(t, s, gitserver.Branch, run(t, s, "hash-object", "-t", "tree", "-w", os.DevNull)))
		}},
		"Packed": {reason: "Objects and refs may be packed, with bitmaps.", prepare: func(t *testing.T, s *gitserver.Server) {
			t.Helper()
			foreignCommit(t, s, gitserver.Branch)
			run(t, s, "repack", "-q", "-a", "-d", "-b")
			run(t, s, "pack-refs", "--all")
		}},
		"Replaced": {reason: "A replacement of a commit counts for Git's own commands at the server alone.", prepare: func(t *testing.T, s *gitserver.Server) {
			t.Helper()
			run(t, s, "replace", "main", commitOf(t, s, gitserver.Branch, run(t, s, "hash-object", "-t", "tree", "-w", os.DevNull)))
			run(t, s, "config", "core.useReplaceRefs", "false") // The test itself would read the replacement.
		}},
		"HiddenState": {
			reason:  "A server may hide the refs of the state.",
			prepare: settings("transfer.hideRefs", "refs/intentplane"), class: failure.ClassStateRefused, detail: "deny updating a hidden ref",
		},
		"MaxInput":      {reason: "A server may bound a push.", prepare: settings("receive.maxInputSize", "100"), class: failure.ClassTooLarge},
		"WithoutFilter": {reason: "A server without filters sends all files.", prepare: settings("uploadpack.allowFilter", "false")},
		"WithoutIDs": {
			reason:  "A server that gives objects by the names of refs alone sends whole commits.",
			prepare: settings("uploadpack.allowTipSHA1InWant", "false", "uploadpack.allowReachableSHA1InWant", "false"),
		},
		"WithoutAtomic": {reason: "The state goes first where a server cannot update both refs atomically.", prepare: settings("receive.advertiseAtomic", "false")},
		"PushOptions": {
			reason:  "A server may offer options and certificates of pushes, which are not used.",
			prepare: settings("receive.advertisePushOptions", "true", "receive.certNonceSeed", "x"),
		},
		"DenyAll": {
			reason:  "A delivery neither deletes nor forces, and so no rule against that refuses it.",
			prepare: settings("receive.denyDeletes", "true", "receive.denyNonFastForwards", "true"),
		},
		"Locked": {
			reason: "A lock that a process left is a conflict until it goes.", prepare: func(t *testing.T, s *gitserver.Server) {
				t.Helper()
				writeFile(t, filepath.Join(s.Path(repo), "refs/heads/main.lock"), "")
			},
			class: failure.ClassConflict,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			seed := map[string]string{"README.md": "hello\n", "sites/b/other.yaml": "x: 1\n"}
			maps.Copy(seed, tc.seed)
			s := serve(t, seed, tc.options...)
			if tc.prepare != nil {
				tc.prepare(t, s)
			}
			branch := gitserver.Branch
			if tc.branch != "" {
				branch = tc.branch
			}
			err := deliverTwice(t, s, branch)
			e := &failure.Error{}
			if err != nil && !errors.As(err, &e) {
				t.Fatalf("\n%s\ndelivery: %v is of no class", tc.reason, err)
			}
			if diff := cmp.Diff(tc.class, failure.ClassOf(err)); diff != "" {
				t.Fatalf("\n%s\nclass: -want, +got:\n%s\n%v: %s", tc.reason, diff, err, e.Remote)
			}
			if !strings.Contains(e.Detail, tc.detail) || !strings.Contains(e.Remote, tc.words) || strings.ContainsRune(e.Remote, '\x1b') {
				t.Errorf("\n%s\nwant %q and the words %q, got %q and %q", tc.reason, tc.detail, tc.words, e.Detail, e.Remote)
			}
		})
	}
}

// deliverTwice delivers, lets another writer commit, reads the recorded state and delivers again. It compares unmanaged files before and after.
func deliverTwice(t *testing.T, s *gitserver.Server, branch string) error {
	t.Helper()
	c := client(t, s, func(r *Remote) { r.Branch = branch })
	var previous *Snapshot
	var first string
	remaining := ""
	for n := range 2 {
		snapshot, err := c.Look(t.Context(), previous)
		if err != nil {
			return err
		}
		p, err := Plan(t.Context(), snapshot, change(delivery(n)))
		if err != nil {
			return err
		}
		if n == 0 {
			remaining = filesOfOthers(t, s, branch)
		}
		done, err := c.Push(t.Context(), p)
		if err != nil {
			return err
		}
		previous = done.Snapshot
		if n == 0 {
			first = previous.Tip()
			foreignCommit(t, s, branch)
		}
	}
	wantDelivered(t, s, branch, remaining)
	repeated := look(t, client(t, s, func(r *Remote) { r.Branch = branch }))
	if isPresent, err := c.Contains(t.Context(), repeated, first); err != nil || !isPresent {
		t.Errorf("\nThe first delivery is in the past of the branch.\nContains(...): %t, %v", isPresent, err)
	}
	return nil
}

// wantDelivered compares the directory of the second delivery, and the files of others.
func wantDelivered(t *testing.T, s *gitserver.Server, branch, remaining string) {
	t.Helper()
	got, err := s.Files(t.Context(), repo, "refs/heads/"+branch+":sites/a/ns/web")
	want := map[string]string{"deployment.yaml": "replicas: 1\n", ".intentplane": "claim: ns/web\n"}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("\nThe directory has the files that were delivered.\n-want, +got:\n%s\n%v", diff, err)
	}
	if diff := cmp.Diff(remaining, filesOfOthers(t, s, branch)); diff != "" {
		t.Errorf("\nThe files of others stay.\n-before, +after:\n%s", diff)
	}
}

// filesOfOthers lists the files of a branch outside of the delivered directory, with their modes and ids, or nothing for a branch without a commit.
func filesOfOthers(t *testing.T, s *gitserver.Server, branch string) string {
	t.Helper()
	if out, err := s.Git(t.Context(), repo, "rev-parse", "--verify", "--quiet", "refs/heads/"+branch); err != nil {
		return out
	}
	lines := []string{}
	for entry := range strings.SplitSeq(run(t, s, "ls-tree", "-r", "-z", "refs/heads/"+branch), "\x00") {
		if !strings.Contains(entry, "\tsites/a/ns/web/") {
			lines = append(lines, entry)
		}
	}
	return strings.Join(lines, "\n")
}

// foreignCommit adds a commit of another writer without a change.
func foreignCommit(t *testing.T, s *gitserver.Server, branch string) {
	t.Helper()
	run(t, s, "update-ref", "refs/heads/"+branch, commitOf(t, s, branch, "refs/heads/"+branch+"^{tree}"))
}

// commitOf returns a new commit of a tree on top of a branch.
func commitOf(t *testing.T, s *gitserver.Server, branch, tree string) string {
	t.Helper()
	return run(t, s, "-c", "user.name=x", "-c", "user.email=x@example.org", "commit-tree", "-m", "Theirs", "-p", "refs/heads/"+branch, tree)
}

// commitText commits a commit of the branch's tree with the given text behind its parent.
func commitText(t *testing.T, s *gitserver.Server, text string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "commit")
	writeFile(t, file, "tree "+run(t, s, "rev-parse", "main^{tree}")+"\nparent "+run(t, s, "rev-parse", "main")+"\n"+text)
	run(t, s, "update-ref", "refs/heads/main", run(t, s, "hash-object", "-t", "commit", "-w", "--literally", file))
}

// commitTree commits a tree of entries, each with its mode and name as they are written: directories of one file, and files.
func commitTree(t *testing.T, s *gitserver.Server, entries ...string) {
	t.Helper()
	blob := run(t, s, "rev-parse", "main:README.md")
	dir := writeTree(t, s, []string{"100644 f"}, []string{blob})
	ids := make([]string, len(entries))
	for i, entry := range entries {
		ids[i] = blob
		if strings.Contains(entry, "40000 ") {
			ids[i] = dir
		}
	}
	run(t, s, "update-ref", "refs/heads/main", commitOf(t, s, gitserver.Branch, writeTree(t, s, entries, ids)))
}

// writeTree writes a tree that Git's own commands would not write.
func writeTree(t *testing.T, s *gitserver.Server, entries, ids []string) string {
	t.Helper()
	var tree bytes.Buffer
	for i, entry := range entries {
		id, err := hex.DecodeString(ids[i])
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&tree, "%s\x00%s", entry, id)
	}
	file := filepath.Join(t.TempDir(), "tree")
	writeFile(t, file, tree.String())
	return run(t, s, "hash-object", "-t", "tree", "-w", "--literally", file)
}

// addEntry commits one entry, in the place of the entry at its path.
func addEntry(t *testing.T, s *gitserver.Server, mode, path string) {
	t.Helper()
	id := run(t, s, "rev-parse", "main:README.md")
	if mode == "160000" {
		id = run(t, s, "rev-parse", "main")
	}
	run(t, s, "read-tree", "main")
	run(t, s, "update-index", "--add", "--replace", "--cacheinfo", mode+","+id+","+path)
	run(t, s, "update-ref", "refs/heads/main", commitOf(t, s, gitserver.Branch, run(t, s, "write-tree")))
}

// addRefs adds refs at the tip of the branch.
func addRefs(t *testing.T, s *gitserver.Server, n int) {
	t.Helper()
	tip := run(t, s, "rev-parse", "main")
	var refs strings.Builder
	refs.WriteString("# pack-refs with: peeled fully-peeled sorted \n")
	for i := range n {
		fmt.Fprintf(&refs, "%s refs/pull/%06d/head\n", tip, i)
	}
	writeFile(t, filepath.Join(s.Path(repo), "packed-refs"), refs.String())
}

// makeSHA256 makes the repository again, with ids of SHA-256.
func makeSHA256(t *testing.T, s *gitserver.Server, withCommit bool) {
	t.Helper()
	if err := os.RemoveAll(s.Path(repo)); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(s.Path(repo), 0o750); err != nil {
		t.Fatal(err)
	}
	run(t, s, "init", "--quiet", "--bare", "--object-format=sha256", "-b", gitserver.Branch)
	if withCommit {
		tree := run(t, s, "hash-object", "-t", "tree", "-w", os.DevNull)
		run(t, s, "update-ref", "refs/heads/main", run(t, s, "-c", "user.name=x", "-c", "user.email=x@example.org", "commit-tree", "-m", "First", tree))
	}
}

func writeFile(t *testing.T, file, text string) {
	t.Helper()
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
