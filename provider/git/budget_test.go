package git

import (
	"context"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

// endless is an answer that gets large, and then comes slowly, until it is closed.
type endless struct {
	left   io.Reader
	large  chan struct{}
	closed chan struct{}
}

func newEndless() *endless {
	return &endless{left: io.LimitReader(zeros{}, modestBytes), large: make(chan struct{}), closed: make(chan struct{})}
}

// Read sends what is modest at once, and then a byte now and then.
func (e *endless) Read(p []byte) (int, error) {
	if n, err := e.left.Read(p); err == nil {
		return n, nil
	}
	select {
	case <-e.large:
	default:
		close(e.large)
	}
	select {
	case <-e.closed:
		return 0, io.ErrClosedPipe
	case <-time.After(time.Millisecond):
		p[0] = 0
		return 1, nil
	}
}

// Close ends the answer.
func (e *endless) Close() error {
	close(e.closed)
	return nil
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

func TestSlowLargeAnswerIsGivenUp(t *testing.T) {
	b := NewBudget()
	b.patience = time.Millisecond
	client := func(namespace string) *Client {
		c := &Client{remote: Remote{Namespace: namespace}}
		c.Share(b)
		return c
	}
	slow, read := newEndless(), make(chan error, 1)
	go func() {
		s := share{of: client("hostile").budget, giveUp: slow.Close}
		defer s.release()
		_, err := s.read(context.Background(), slow)
		read <- err
	}()
	<-slow.large
	good := share{of: client("team-a").budget}
	if err := good.grow(t.Context(), modestBytes+1); err != nil {
		t.Errorf("Another namespace has its turn when the slow answer is given up.\ngrow(...): %v", err)
	}
	if err := <-read; !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("A slow large answer ends while another namespace waits.\nread(...): want %v, got %v", context.DeadlineExceeded, err)
	}
}

func TestLargeAnswerIsReadWhileNobodyWaits(t *testing.T) {
	b := NewBudget()
	b.patience = time.Nanosecond
	s := share{of: b, giveUp: func() error { return errors.New("given up") }}
	defer s.release()
	want := strings.Repeat("0", modestBytes+1)
	read, err := s.read(t.Context(), strings.NewReader(want))
	if err != nil {
		t.Fatal(err)
	}
	if got, err := io.ReadAll(read); err != nil || string(got) != want {
		t.Errorf("A large answer is read to its end while no other namespace waits.\nread(...): %d bytes, %v", len(got), err)
	}
}
