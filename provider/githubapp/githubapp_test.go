package githubapp

import (
	"strings"
	"testing"
)

func TestCheck(t *testing.T) {
	app := func(change func(*App)) App {
		a := App{ID: "1", Installation: "42", PrivateKey: "key"}
		change(&a)
		return a
	}
	cases := map[string]struct {
		reason string
		app    App
		want   string
	}{
		"Good":         {reason: "An App has an ID, an installation and a key.", app: app(func(*App) {})},
		"ID":           {reason: "An ID is a part of no other text.", app: app(func(a *App) { a.ID = "a/b" }), want: "letters, digits and dots"},
		"Installation": {reason: "An installation is a number.", app: app(func(a *App) { a.Installation = "../x" }), want: "must be a number"},
		"NoKey":        {reason: "An App needs its key.", app: app(func(a *App) { a.PrivateKey = "" }), want: "is empty"},
		"LargeKey": {
			reason: "A key has a limit, since its author chooses the time of a signature.",
			app:    app(func(a *App) { a.PrivateKey = strings.Repeat("x", maxKeyBytes+1) }), want: "more than 16 KiB",
		},
		"Address": {reason: "The address of an API holds no credentials.", app: app(func(a *App) { a.BaseURL = "https://u@h" }), want: "must be https"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			err := tc.app.Check()
			if (err != nil) != (tc.want != "") || err != nil && !strings.Contains(err.Error(), tc.want) {
				t.Errorf("\n%s\nCheck(): want an error with %q, got %v", tc.reason, tc.want, err)
			}
		})
	}
}
