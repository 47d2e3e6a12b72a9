package state

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// udsState and udsPackage are the structs of the design of uds-cli, field by field.
type udsState struct {
	Name        string       `json:"name"`
	Version     string       `json:"version"`
	PkgStatuses []udsPackage `json:"packages"`
	Status      string       `json:"status"`
	DateUpdated time.Time    `json:"date_updated"`
}

type udsPackage struct {
	Name        string    `json:"name"`
	Version     string    `json:"version"`
	Status      string    `json:"status"`
	DateUpdated time.Time `json:"date_updated"`
}

func TestRecordIsReadByOthers(t *testing.T) {
	timestamp := time.Date(2026, 11, 22, 9, 0, 0, 1, time.UTC)
	b, err := json.Marshal(&BundleState{
		Name: "platform", Version: "1.4.0", Status: Success, DateUpdated: timestamp, Schema: 1, Writer: "w",
		PkgStatuses: []PkgStatus{{Name: "postgres", Version: "1.2.0", Status: Success, DateUpdated: timestamp, Revision: 7, Kind: "IntentDeployment"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	want := `{"name":"platform","version":"1.4.0","packages":[{"name":"postgres","version":"1.2.0","status":"success","date_updated":"2026-11-22T09:00:00.000000001Z",` +
		`"revision":7,"kind":"IntentDeployment"}],"status":"success","date_updated":"2026-11-22T09:00:00.000000001Z","schema":1,"writer":"w"}`
	if diff := cmp.Diff(want, string(b)); diff != "" {
		t.Errorf("The record: -want, +got:\n%s", diff)
	}
	got := udsState{}
	if err := json.Unmarshal(b, &got); err != nil {
		t.Fatal(err)
	}
	wantUDS := udsState{
		Name: "platform", Version: "1.4.0", Status: "success", DateUpdated: timestamp,
		PkgStatuses: []udsPackage{{Name: "postgres", Version: "1.2.0", Status: "success", DateUpdated: timestamp}},
	}
	if diff := cmp.Diff(wantUDS, got); diff != "" {
		t.Errorf("The record as uds-cli reads it: -want, +got:\n%s", diff)
	}
}

func TestUnknownFields(t *testing.T) {
	cases := map[string]struct {
		reason     string
		text, want string
	}{
		"Kept": {
			reason: "Fields that are unknown are written again, behind those that are known.",
			text:   `{"zeta":{"a":[1, 2]},"name":"a","packages":[{"name":"p","extra":true,"version":"","status":"success"}],"alpha":null,"status":"success"}`,
			want: `{"name":"a","version":"","packages":[{"name":"p","version":"","status":"success","date_updated":"0001-01-01T00:00:00Z","extra":true}],` +
				`"status":"success","date_updated":"0001-01-01T00:00:00Z","alpha":null,"zeta":{"a":[1,2]}}`,
		},
		"OtherCase": {
			reason: "A known field in other letters is that field, and is not written twice.",
			text:   `{"Name":"a","STATUS":"success"}`,
			want:   `{"name":"a","version":"","packages":[],"status":"success","date_updated":"0001-01-01T00:00:00Z"}`,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := &BundleState{}
			if err := json.Unmarshal([]byte(tc.text), s); err != nil {
				t.Fatal(err)
			}
			got, err := json.Marshal(s)
			if diff := cmp.Diff(tc.want, string(got)); diff != "" || err != nil {
				t.Errorf("\n%s\n%v: -want, +got:\n%s", tc.reason, err, diff)
			}
		})
	}
}

func TestCheckShape(t *testing.T) {
	fields := func(n int) string {
		out := make([]string, n)
		for i := range out {
			out[i] = fmt.Sprintf(`"f%d":0`, i)
		}
		return "{" + strings.Join(out, ",") + "}"
	}
	items := func(n int) string { return `{"packages":[` + strings.TrimSuffix(strings.Repeat("{},", n), ",") + `]}` }
	cases := map[string]struct {
		reason string
		text   string
		want   bool
	}{
		"Record":        {reason: "A record has the shape.", text: `{"name": "a", "packages": [{"name": "p"}]}`, want: true},
		"NoPackages":    {reason: "A record may have null for no packages.", text: `{"packages": null}`, want: true},
		"MostFields":    {reason: "A record may have as many fields as the limit.", text: fields(maxFields), want: true},
		"Fields":        {reason: "A record with more fields than the limit is refused.", text: fields(maxFields + 1)},
		"PackageFields": {reason: "A package with more fields than the limit is refused.", text: `{"packages":[` + fields(maxFields+1) + `]}`},
		"MostPackages":  {reason: "A record may have as many packages as the limit.", text: items(maxPackages), want: true},
		"Packages":      {reason: "A record with more packages than the limit is refused.", text: items(maxPackages + 1)},
		"Capitals": {
			reason: "Packages are counted in any spelling that decoding takes.",
			text:   strings.Replace(items(maxPackages+1), "packages", "Packages", 1),
		},
		"Half":        {reason: "Half of a record is refused.", text: `{"name": "a", "packages": [{"name"`},
		"Behind":      {reason: "A record with something behind it is refused.", text: `{} {}`},
		"List":        {reason: "A list is refused, since it is not a record.", text: `[]`},
		"Null":        {reason: "A null is refused, since it is not a record.", text: `null`},
		"Text":        {reason: "Packages that are not a list are refused.", text: `{"packages": "a"}`},
		"TextPackage": {reason: "A package that is not an object is refused.", text: `{"packages": ["a"]}`},
		"Empty":       {reason: "Nothing at all is refused.", text: ``},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if err := checkFieldLimits([]byte(tc.text)); (err == nil) != tc.want {
				t.Errorf("\n%s\ncheckShape(...): %v", tc.reason, err)
			}
		})
	}
}
