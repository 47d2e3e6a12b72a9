package kubernetes

import (
	"os"
	"path/filepath"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/golang-jwt/jwt/v5"
)

// life of a token of a service account.
const life = 2 * time.Hour

// SetExpiry returns the token of a service account as the API server would have signed it if it expired at another time. It returns an error for any
// other token.
func (k *Cluster) SetExpiry(token string, expiry time.Time) (string, error) {
	pem, err := os.ReadFile(filepath.Join(k.Dir, signingKey))
	if err != nil {
		return "", errors.Wrap(err, "cannot read key of service accounts")
	}
	key, err := jwt.ParseECPrivateKeyFromPEM(pem)
	if err != nil {
		return "", errors.Wrap(err, "cannot parse key of service accounts")
	}
	claims := jwt.MapClaims{}
	parsed, _, err := jwt.NewParser().ParseUnverified(token, claims)
	if err != nil {
		return "", errors.Wrap(err, "cannot parse token")
	}
	begins := jwt.NewNumericDate(expiry.Add(-life))
	claims["iat"], claims["nbf"], claims["exp"] = begins, begins, jwt.NewNumericDate(expiry)
	out := jwt.NewWithClaims(jwt.SigningMethodES256, claims)
	out.Header["kid"] = parsed.Header["kid"]
	signed, err := out.SignedString(key)
	return signed, errors.Wrap(err, "cannot sign token")
}
