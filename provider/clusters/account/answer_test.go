package account

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/google/go-cmp/cmp"
)

// TestEventsArePaced reads events of one author no faster than their share, and events of another author meanwhile.
func TestEventsArePaced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fast, idle := newAccount(Bounds{}), newAccount(Bounds{})
		began := time.Now()
		if err := (&Expectation{Kind: EventsAnswer, Account: fast}).paceWatchEvents(t.Context(), eventBurst+10*eventRate); err != nil {
			t.Fatal(err)
		}
		if got := time.Since(began).Round(time.Second); got != 10*time.Second {
			t.Errorf("a burst, and the events of ten seconds, are read in %s", got)
		}
		began = time.Now()
		if err := (&Expectation{Kind: EventsAnswer, Account: idle}).paceWatchEvents(t.Context(), eventBurst); err != nil || time.Since(began) > 0 {
			t.Errorf("events of another author wait %s: %v", time.Since(began), err)
		}
	})
}

// TestConnectionHasPlaces has more answers at once than a connection has places for, and a watch beside them.
func TestConnectionHasPlaces(t *testing.T) {
	const places = 6
	b := &boundedTransport{places: make(chan struct{}, places)}
	var leave []func()
	for range places {
		l, err := b.takeAnswerPlace(t.Context(), PageAnswer)
		if err != nil {
			t.Fatal(err)
		}
		leave = append(leave, l)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := b.takeAnswerPlace(ended, ObjectAnswer); !errors.Is(err, context.Canceled) {
		t.Errorf("An answer waits for a place.\ntakePlace(...): want %v, got %v", context.Canceled, err)
	}
	if _, err := b.takeAnswerPlace(ended, EventsAnswer); err != nil {
		t.Errorf("A watch needs no place.\ntakePlace(...): want no error, got %v", err)
	}
	leave[0]()
	leave[0]() // Once more gives back nothing.
	if diff := cmp.Diff(places-1, len(b.places)); diff != "" {
		t.Errorf("An answer that ended gives its place back once.\nplaces: -want, +got:\n%s", diff)
	}
}
