package clone

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

// maxFile is more than a file has that a deployment delivers or a control plane remembers, in bytes.
const maxFile = 4 << 20

// Kinds of entries that a tree has.
const (
	kindBlob = "blob"
	kindTree = "tree"
)

// A treeEntry is one file or folder of a Git tree.
type treeEntry struct {
	mode, kind, id, name string
}

// runGit returns the output of git. It returns the message of git as an error.
func (c *Clone) runGit(ctx context.Context, in string, args ...string) (string, error) {
	command := exec.CommandContext(ctx, "git", append([]string{"-C", c.dir}, args...)...) //nolint:gosec // The user names the folder. Refs and ids are checked.
	command.Env = append(os.Environ(), "LC_ALL=C", "GIT_OPTIONAL_LOCKS=0")
	command.Env = append(command.Env, c.env...)
	out, problems := &bytes.Buffer{}, &bytes.Buffer{}
	command.Stdin, command.Stdout, command.Stderr = strings.NewReader(in), out, problems
	err := command.Run()
	if message := strings.TrimSpace(problems.String()); err != nil && message != "" {
		return "", errors.New(message)
	}
	return out.String(), errors.Wrap(err, "cannot run git")
}

// listTreeEntries returns the entries of a tree, or the single entry of a path.
func (c *Clone) listTreeEntries(ctx context.Context, treeID, path string, flags ...string) ([]treeEntry, error) {
	args := append([]string{"ls-tree", "-z", "--full-tree"}, flags...)
	args = append(args, "--end-of-options", treeID)
	if path != "" {
		args = append(args, "--", path)
	}
	out, err := c.runGit(ctx, "", args...)
	if err != nil {
		return nil, errors.Wrapf(err, "cannot read tree %s", treeID)
	}
	var all []treeEntry
	for record := range strings.SplitSeq(strings.TrimSuffix(out, "\x00"), "\x00") {
		if e, ok := parseTreeEntry(record); ok {
			all = append(all, e)
		}
	}
	return all, nil
}

func parseTreeEntry(record string) (treeEntry, bool) {
	head, name, _ := strings.Cut(record, "\t")
	fields := strings.Fields(head)
	if len(fields) != 3 {
		return treeEntry{}, false
	}
	return treeEntry{mode: fields[0], kind: fields[1], id: fields[2], name: name}, true
}

// readBlobs returns the content of each file.
func (c *Clone) readBlobs(ctx context.Context, all []treeEntry) ([][]byte, error) {
	ids := &strings.Builder{}
	for _, e := range all {
		if e.mode != "100644" {
			return nil, errors.Errorf("%s is not a regular file", e.name)
		}
		ids.WriteString(e.id + "\n")
	}
	out, err := c.runGit(ctx, ids.String(), "cat-file", "--batch")
	if err != nil {
		return nil, err
	}
	r, contents := bufio.NewReader(strings.NewReader(out)), make([][]byte, 0, len(all))
	for _, e := range all {
		b, err := readNextBlob(r)
		if err != nil {
			return nil, errors.Wrap(err, e.name)
		}
		contents = append(contents, b)
	}
	return contents, nil
}

// readNextBlob reads one answer of git cat-file --batch: a line with id, kind and size, then the content and an end of line.
func readNextBlob(r *bufio.Reader) ([]byte, error) {
	line, err := r.ReadString('\n')
	if err != nil {
		return nil, errors.Wrap(err, "cannot read the output of git")
	}
	fields := strings.Fields(line)
	if len(fields) != 3 || fields[1] != kindBlob {
		return nil, errors.Errorf("the clone does not have it: %s", strings.TrimSpace(line))
	}
	size, err := strconv.Atoi(fields[2])
	if err != nil || size > maxFile {
		return nil, errors.Errorf("it has %s bytes, want at most %d", fields[2], maxFile)
	}
	b := make([]byte, size+1)
	_, err = io.ReadFull(r, b)
	return b[:size], errors.Wrap(err, "cannot read the output of git")
}
