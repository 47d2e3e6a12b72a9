package objects

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/intentplane/intentplane/provider/signature"
)

// An Author is the author of a commit.
type Author struct {
	Name  string
	Email string
}

// A CommitInfo has the fields of a commit, except its tree and its parent.
type CommitInfo struct {
	// Author of the commit, and its committer.
	Author Author
	// When is the date of the commit.
	When time.Time
	// Message of the commit.
	Message string
	// Signer of the commit. Nil leaves it unsigned.
	Signer *signature.Signer
}

// Apply returns the view after a commit that makes the edits below the root, and the objects that it adds; the same view if the edits
// change nothing. It returns an error as FilesNamed does.
func (v View) Apply(ctx context.Context, root *Node, info CommitInfo) (View, []Object, error) {
	e := &treeEditor{old: v, seen: map[plumbing.Hash]bool{}}
	tree, err := e.editTree(ctx, v.Tree, root, "")
	if err != nil {
		return View{}, nil, err
	}
	if tree.IsZero() && !v.Commit.IsZero() {
		tree = e.addMissingObject(NewObject(plumbing.TreeObject, nil), v.Tree)
	}
	if tree == v.Tree {
		return v, nil, nil
	}
	data, err := signCommitData(encodeCommit(tree, v.Commit, info), info.Signer)
	if err != nil {
		return View{}, nil, err
	}
	commit := NewObject(plumbing.CommitObject, data)
	next, err := v.withCommit(ctx, commit, e.made)
	return next, append(e.made, commit), err
}

func encodeCommit(tree, parent plumbing.Hash, info CommitInfo) []byte {
	b := strings.Builder{}
	fmt.Fprintf(&b, "tree %s\n", tree)
	if !parent.IsZero() {
		fmt.Fprintf(&b, "parent %s\n", parent)
	}
	for _, role := range []string{"author", "committer"} {
		fmt.Fprintf(&b, "%s %s <%s> %d +0000\n", role, info.Author.Name, info.Author.Email, info.When.Unix())
	}
	b.WriteString("\n" + strings.TrimRight(info.Message, "\n") + "\n")
	return []byte(b.String())
}
