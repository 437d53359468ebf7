// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package providerconfig

import (
	"context"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	commonv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/common/v1beta1"
)

// TokenAudiencesAnnotationKey is the annotation on a ServiceAccount with the audiences, separated by commas, for which
// Workspaces may get its tokens. Without it, anyone who may write a ProviderConfig could use each ServiceAccount for
// which this provider may request tokens.
const TokenAudiencesAnnotationKey = "terraform.crossplane.io/token-audiences"

// minTokenLife is how long a token is valid if the ProviderConfig does not say it, unless two runs may take longer.
const minTokenLife = time.Hour

// Tokens requests tokens of ServiceAccounts, and keeps each of them for half of its life. It is safe for concurrent use.
type Tokens struct {
	kube client.Client
	live client.Reader // Without a cache: a cache takes the right to list all ServiceAccounts.
	now  func() time.Time

	life time.Duration

	mu     sync.Mutex
	tokens map[tokenKey]token

	// logins are the audiences whose tokens are logins for the API server. They are empty as long as they are not known.
	logins []string
}

type tokenKey struct {
	types.NamespacedName

	audience string
	life     time.Duration
}

type token struct {
	value []byte
	renew time.Time
}

// NewTokens returns Tokens without any. timeout is how long a run may take.
func NewTokens(kube client.Client, live client.Reader, timeout time.Duration) *Tokens {
	return &Tokens{kube: kube, live: live, now: time.Now, life: max(minTokenLife, 2*timeout), tokens: map[tokenKey]token{}}
}

// Get returns a token. namespace is that of the Workspace, for a selector without one.
func (t *Tokens) Get(ctx context.Context, s commonv1beta1.ServiceAccountTokenSelector, namespace string) ([]byte, error) {
	key := tokenKey{NamespacedName: types.NamespacedName{Namespace: s.Namespace, Name: s.Name}, audience: s.Audience, life: t.life}
	if key.Namespace == "" {
		key.Namespace = namespace
	}

	if key.Namespace == "" {
		return nil, errors.New("serviceAccountToken.namespace is not set, and the Workspace has none")
	}

	if s.ExpirationSeconds != nil {
		key.life = time.Duration(*s.ExpirationSeconds) * time.Second
	}

	t.mu.Lock()
	known := t.tokens[key]
	t.mu.Unlock()

	if t.now().Before(known.renew) {
		return known.value, nil
	}

	if err := t.mayUse(ctx, key); err != nil {
		return nil, err
	}

	began := t.now()

	status, err := t.request(ctx, key, authenticationv1.TokenRequestSpec{Audiences: []string{key.audience}, ExpirationSeconds: new(int64(key.life / time.Second))})
	if err != nil {
		return nil, err
	}

	// The API server may have chosen another time.
	made := token{value: []byte(status.Status.Token), renew: began.Add(status.Status.ExpirationTimestamp.Sub(began) / 2)}

	t.mu.Lock()
	defer t.mu.Unlock()

	maps.DeleteFunc(t.tokens, func(_ tokenKey, old token) bool { return !began.Before(old.renew) })
	t.tokens[key] = made

	return made.value, nil
}

// mayUse returns an error unless the ServiceAccount allows the audience, which must not be one of the API server.
func (t *Tokens) mayUse(ctx context.Context, key tokenKey) error {
	sa := &corev1.ServiceAccount{}
	if err := t.live.Get(ctx, key.NamespacedName, sa); err != nil {
		return errors.Wrapf(withRight(err, "get serviceaccounts", key), "cannot get ServiceAccount %s", key.NamespacedName)
	}

	allowed := strings.FieldsFunc(sa.GetAnnotations()[TokenAudiencesAnnotationKey], func(r rune) bool { return r == ',' || r == ' ' })
	if !slices.Contains(allowed, key.audience) {
		return errors.Errorf("ServiceAccount %s does not allow its tokens for the audience %q: add the audience to its annotation %s", key.NamespacedName, key.audience, TokenAudiencesAnnotationKey)
	}

	logins, err := t.loginAudiences(ctx, key)
	if err != nil {
		return err
	}

	if slices.Contains(logins, key.audience) {
		return errors.Errorf("serviceAccountToken.audience is %q, which is one of the API server: such a token is a login for this cluster. Use the audience of the service that is to accept the token", key.audience)
	}

	return nil
}

// loginAudiences returns the audiences of the API server. It puts them into a token for which no audience is asked.
func (t *Tokens) loginAudiences(ctx context.Context, key tokenKey) ([]string, error) {
	t.mu.Lock()
	known := t.logins
	t.mu.Unlock()

	if len(known) > 0 {
		return known, nil
	}

	status, err := t.request(ctx, key, authenticationv1.TokenRequestSpec{})
	if err != nil {
		return nil, err
	}

	if len(status.Spec.Audiences) == 0 {
		return nil, errors.New("the API server does not tell which audiences are its own")
	}

	t.mu.Lock()
	defer t.mu.Unlock()

	t.logins = status.Spec.Audiences

	return t.logins, nil
}

func (t *Tokens) request(ctx context.Context, key tokenKey, spec authenticationv1.TokenRequestSpec) (*authenticationv1.TokenRequest, error) {
	r := &authenticationv1.TokenRequest{Spec: spec}
	sa := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name}}

	err := t.kube.SubResource("token").Create(ctx, sa, r)

	return r, errors.Wrapf(withRight(err, "create serviceaccounts/token", key), "cannot request a token of ServiceAccount %s", key.NamespacedName)
}

// withRight adds to a refusal which right is missing. The provider has none of them by default.
func withRight(err error, right string, key tokenKey) error {
	if !kerrors.IsForbidden(err) {
		return err
	}

	return errors.Errorf("%w. Grant the provider the right to %s, for the name %q, in a Role in the namespace %q", err, right, key.Name, key.Namespace)
}
