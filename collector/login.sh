# shellcheck shell=sh
# Runs as the login user, right behind the login shell: becomes root where that is wanted, then reads the session
# program. The first line of the text, written by suil, sets suil_nonce, suil_prompt, suil_raise and suil_sudo.
#
# suil_raise: `no` (stay who we are), `quiet` (sudo without a question; the session program is already under way),
# `ask` (sudo asks; the session program follows when it is there).

# shellcheck disable=SC2154 # the first line sets them
: "$suil_nonce" "$suil_prompt" "$suil_raise" "$suil_sudo"

LC_ALL=C
PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin${PATH:+:$PATH}
export LC_ALL PATH
unset LANGUAGE ENV BASH_ENV CDPATH

# The reader is given to sudo as text, so it stands here as text. dd without fullblock may read short.
# shellcheck disable=SC2016
suil_reader='read -r n && p=$(dd bs="$n" count=1 iflag=fullblock 2>/dev/null || dd bs=1 count="$n" 2>/dev/null) && eval "$p"'

# The kernel says it too, and a shell can read that without starting anything.
suil_user=
{ while read -r suil_word _ suil_number _; do
	case $suil_word in Uid:) suil_user=$suil_number && break ;; esac
done </proc/self/status; } 2>/dev/null
[ -n "$suil_user" ] || suil_user=$(id -u)
suil_shell=${SHELL:-unknown}
suil_login=${LOGNAME:-${USER:-}}
[ -n "$suil_login" ] || suil_login=$(id -un)

if [ "$suil_raise" = no ] || [ "$suil_user" = 0 ]; then
	set -- "$suil_shell" "$suil_login"
	if [ "$suil_raise" = ask ]; then
		printf '@@READY %s\n' "$suil_prompt"
	fi
	eval "$suil_reader"
	exit
fi

if ! command -v "$suil_sudo" >/dev/null 2>&1; then
	printf '@@SUDO %s missing\n' "$suil_nonce"
	exit 1
fi

if [ "$suil_raise" = quiet ]; then
	# The status 1 is sudo's own: the session program always ends with 0.
	"$suil_sudo" -n /bin/sh -c "$suil_reader" suil "$suil_shell" "$suil_login" 2>&1
	suil_status=$?
	[ "$suil_status" = 1 ] || exit "$suil_status"
	# sudo did not take the session program: it is still in the pipe.
	# shellcheck disable=SC2034
	read -r suil_size && suil_rest=$(dd bs="$suil_size" count=1 iflag=fullblock 2>/dev/null ||
		dd bs=1 count="$suil_size" 2>/dev/null)
	printf '@@SUDO %s refused\n' "$suil_nonce"
	read -r suil_word || exit 1
	[ "$suil_word" = ask ] || exit 1
fi

exec "$suil_sudo" -S -p "@@PROMPT $suil_prompt@@" \
	/bin/sh -c "printf '@@READY %s\n' $suil_prompt; $suil_reader" suil "$suil_shell" "$suil_login" 2>&1
