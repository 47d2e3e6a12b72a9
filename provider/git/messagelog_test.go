package git

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/intentplane/intentplane/provider/git/failure"
	"github.com/intentplane/intentplane/test/gitserver"
)

func TestReadMessages(t *testing.T) {
	s := serve(t, map[string]string{"README.md": "hello"})
	c := client(t, s)
	p := plan(t, look(t, c), put("sites/a/ns/web", files("a.yaml", "1")))
	snapshot := push(t, c, p).Snapshot
	log, err := c.ReadMessages(context.Background(), snapshot, "", nil)
	if err != nil || len(log.Messages()) != 2 {
		t.Fatalf("ReadMessages(): want two, got %v, %v", log, err)
	}
	got := log.Messages()
	want := Message{ID: p.Commit(), Seconds: change(Change{}).When.Unix(), Message: change(Change{}).Message}
	if diff := cmp.Diff(want, got[0], cmpopts.IgnoreUnexported(Message{})); diff != "" || got[1].Message != "First commit\n" && got[1].Message != "First commit" {
		t.Errorf("\nThe newest comes first\nReadMessages(): -want, +got:\n%s%v", diff, got[1])
	}
	if some, err := c.ReadMessages(context.Background(), snapshot, "Deliver", log); err != nil || len(some.Messages()) != 1 {
		t.Errorf("\nOnly messages with the words are returned\nReadMessages(): got %v, %v", some, err)
	}
	if nothing, err := c.ReadMessages(context.Background(), &Snapshot{}, "", nil); err != nil || len(nothing.Messages()) != 0 {
		t.Errorf("\nWithout a branch there is nothing to say\nReadMessages(): got %v, %v", nothing, err)
	}
}

// TestLogIsBounded makes logs of messages that another writer chose.
func TestLogIsBounded(t *testing.T) {
	cases := map[string]struct {
		reason string
		length int
		count  int
		want   int
	}{
		"Long": {reason: "A log has as many of the newest messages as fit.", length: 1 << 20, count: 40, want: 15},
		"Many": {reason: "A log has no more messages than one answer of the server may have.", length: 0, count: maxNotes + 10, want: maxNotes},
		"Few":  {reason: "A log of few messages is complete.", length: 300, count: 10, want: 10},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			message := strings.Repeat("x", tc.length)
			log := (&MessageLog{}).withNewestNotes("", slices.Repeat([]Message{{Message: message}}, tc.count))
			if diff := cmp.Diff(tc.want, len(log.notes)); diff != "" || log.Size() > maxLogBytes {
				t.Errorf("\n%s\nwithNotes(...): %d bytes, -want, +got:\n%s", tc.reason, log.Size(), diff)
			}
		})
	}
}

// TestReadMessagesSinceOlderTip reads the newer messages of a branch that went on and of a branch that was rewritten.
func TestReadMessagesSinceOlderTip(t *testing.T) {
	s := serve(t, map[string]string{"README.md": "hello"})
	c := client(t, s)
	snapshot := look(t, c)
	log, err := c.ReadMessages(context.Background(), snapshot, "", nil)
	if err != nil {
		t.Fatal(err)
	}
	messages := func() []string {
		out := []string{}
		for _, n := range log.Messages() {
			out = append(out, strings.TrimSpace(n.Message))
		}
		return out
	}
	// Messages of an earlier log are not requested again.
	log.notes[0].Message = "Read before"
	unmanagedCommit(t, s, "one", "two")
	if log, err = c.ReadMessages(context.Background(), look(t, c), "", log); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"two", "one", "Read before"}, messages()); diff != "" {
		t.Errorf("\nOnly newer messages are read\nReadMessages(): -want, +got:\n%s", diff)
	}
	run(t, s, "update-ref", "refs/heads/main", "main~1")
	unmanagedCommit(t, s, "three")
	if log, err = c.ReadMessages(context.Background(), look(t, c), "", log); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"three", "one", "First commit"}, messages()); diff != "" {
		t.Errorf("\nA branch that was rewritten is read again\nReadMessages(): -want, +got:\n%s", diff)
	}
}

// unmanagedCommit makes commits without our trailers.
func unmanagedCommit(t *testing.T, s *gitserver.Server, messages ...string) {
	t.Helper()
	for _, m := range messages {
		if _, err := s.Commit(context.Background(), repo, gitserver.Branch, map[string]string{"theirs": m}, m); err != nil {
			t.Fatal(err)
		}
	}
}

// TestReadMessagesBetween asks for the commits between two, in either order.
func TestReadMessagesBetween(t *testing.T) {
	s := serve(t, map[string]string{"README.md": "hello"})
	c := client(t, s)
	tip := func() string { return strings.TrimSpace(run(t, s, "rev-parse", "main")) }
	first := tip()
	unmanagedCommit(t, s, "one", "two", "other")
	last := tip()
	cases := map[string]struct {
		reason       string
		newer, older string
		words        string
		want         []string
		class        failure.Class
	}{
		"Between": {
			reason: "The newest message comes first, without the message of the older commit.",
			newer:  last, older: first, want: []string{"other", "two", "one"},
		},
		"Words":    {reason: "Only messages with the words are returned.", newer: last, older: first, words: "tw", want: []string{"two"}},
		"Same":     {reason: "Nothing came after the same commit.", newer: last, older: last},
		"Backward": {reason: "A commit in the history of the older commit is not after it.", newer: first, older: last},
		"Unknown":  {reason: "A commit that the server does not have has nothing after it.", newer: last, older: strings.Repeat("a", 40)},
		"Invalid":  {reason: "A text that is not an id is refused before the server is asked.", newer: last, older: "--x", class: failure.ClassInvalid},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			messages, err := c.ReadMessagesBetween(t.Context(), tc.newer, tc.older, tc.words)
			if failure.ClassOf(err) != tc.class {
				t.Fatalf("\n%s\nReadMessagesBetween(): %v", tc.reason, err)
			}
			var got []string
			for _, m := range messages {
				got = append(got, strings.TrimSpace(m.Message))
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nReadMessagesBetween(): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
