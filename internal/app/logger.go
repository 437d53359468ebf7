// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"github.com/go-logr/logr"
	"go.uber.org/zap/zapcore"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
)

// newLogger returns the logger of the process. Every line contains the shard.
func newLogger(o *Options) logr.Logger {
	encoder := zap.ConsoleEncoder
	if o.LogEncoding == "json" {
		encoder = zap.JSONEncoder
	}

	return zap.New(zap.UseDevMode(o.Debug), encoder(func(c *zapcore.EncoderConfig) {
		c.EncodeTime = zapcore.ISO8601TimeEncoder
	})).WithValues("shard", o.Shard.Value())
}
