package promserver

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/prometheus/common/model"
)

// Query returns the server's present result of a query, as QueryAt does.
func (s *Server) Query(ctx context.Context, text string) (model.Vector, error) {
	return s.QueryAt(ctx, text, time.Now())
}

// QueryAt returns the server's result of a query at a time. It returns an error if the server does not answer, or refuses the query.
func (s *Server) QueryAt(ctx context.Context, text string, timestamp time.Time) (model.Vector, error) {
	values := url.Values{"query": {text}, "time": {timestamp.UTC().Format(time.RFC3339Nano)}}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.URL()+"/api/v1/query?"+values.Encode(), nil)
	if err != nil {
		return nil, errors.Wrap(err, "cannot ask Prometheus")
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, errors.Wrap(err, "cannot ask Prometheus")
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusOK {
		return nil, errors.Errorf("Prometheus answers %s to %s", resp.Status, text)
	}
	answer := struct {
		Data struct {
			Result model.Vector `json:"result"`
		} `json:"data"`
	}{}
	err = json.NewDecoder(resp.Body).Decode(&answer)
	return answer.Data.Result, errors.Wrapf(err, "cannot read the response of Prometheus to %s", text)
}
