package backoff

import (
	"fmt"
	"testing"
	"time"

	"github.com/intentplane/intentplane/provider/git/failure"
)

func TestCommitsAreBounded(t *testing.T) {
	c := &Commits{}
	for n := range 3 * maxMissing {
		c.Record(fmt.Sprint(n), &failure.Error{Class: failure.ClassNotFound}, time.Unix(int64(n), 0))
	}
	if len(c.missing) > maxMissing {
		t.Errorf("No more commits are remembered than there is room for.\nRecord(...): %d are", len(c.missing))
	}
}
