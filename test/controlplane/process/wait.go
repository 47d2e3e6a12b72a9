package process

import (
	"context"
	"io"
	"net"
	"net/http"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/intentplane/intentplane/test/controlplane/port"
)

const (
	// Timeout bounds each wait. It is longer than patience.Limit: the API server may hang in each of its starts but the last.
	Timeout = 10 * time.Minute

	// interval is the time between two observations.
	interval = 100 * time.Millisecond

	dialTimeout = time.Second
)

// PollUntil polls until fn is done, fails or ctx ends, whose cause it then returns.
func PollUntil(ctx context.Context, fn wait.ConditionWithContextFunc) error {
	ctx, cancel := context.WithTimeout(ctx, Timeout)
	defer cancel()
	if err := wait.PollUntilContextCancel(ctx, interval, true, fn); err == nil || ctx.Err() == nil {
		return err
	}
	return context.Cause(ctx)
}

// pollWhileAlive polls until something is ready, and returns an error when the process ends before.
func (p *Process) pollWhileAlive(ctx context.Context, isReady func(context.Context) bool) error {
	return PollUntil(ctx, func(ctx context.Context) (bool, error) {
		if !p.IsAlive() {
			return false, p.FailureWithLog("ended early")
		}
		return isReady(ctx), nil
	})
}

// AwaitURL waits until a URL answers with success, and returns an error when the process ends before.
func (p *Process) AwaitURL(ctx context.Context, hc *http.Client, url string) error {
	return p.pollWhileAlive(ctx, func(ctx context.Context) bool { return CheckURL(ctx, hc, url) == nil })
}

// AwaitPort waits until there is a listener on a port, and returns an error when the process ends before.
func (p *Process) AwaitPort(ctx context.Context, number int) error {
	return p.pollWhileAlive(ctx, func(ctx context.Context) bool { return isListening(ctx, number) })
}

func isListening(ctx context.Context, number int) bool {
	conn, err := (&net.Dialer{Timeout: dialTimeout}).DialContext(ctx, "tcp", port.Address(number))
	return err == nil && conn.Close() == nil
}

// AwaitEnd waits for the end of a process, which is expected from now on. It returns an error if ctx ends first.
func (p *Process) AwaitEnd(ctx context.Context) error {
	p.expected.Store(true)
	select {
	case <-p.done:
		return nil
	case <-ctx.Done():
		return errors.Wrapf(context.Cause(ctx), "cannot see %s end", p.Name)
	}
}

// CheckURL returns an error unless a URL answers with success.
func CheckURL(ctx context.Context, hc *http.Client, url string) error {
	body, err := Fetch(ctx, hc, url)
	if err != nil {
		return err
	}
	return body.Close()
}

// Fetch returns the content of a URL, or an error unless the URL answers with success.
func Fetch(ctx context.Context, hc *http.Client, url string) (io.ReadCloser, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	rsp, err := hc.Do(req)
	if err != nil {
		return nil, err
	}
	if rsp.StatusCode != http.StatusOK {
		return nil, errors.Join(errors.Errorf("%s answers %s", url, rsp.Status), rsp.Body.Close())
	}
	return rsp.Body, nil
}
