/* SPDX-License-Identifier: GPL-2.0-or-later */
/* no-policy.c - a shared object without a policy, for outside.c. */

extern const int something;
const int something = 1;
