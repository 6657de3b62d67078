# shellcheck shell=sh
# What changes packages, services, accounts and the machine itself. Called by the scripts of operations, under
# `set -eu`, with LC_ALL=C, the sbin folders in PATH and /dev/null as stdin. Each does nothing where there is nothing to do.

lib_newline='
'

# How long another package tool is waited for, in seconds.
: "${LOCK_WAIT:=120}"

# Prints `name (pid N)` of the process that holds a lock on FILE. A file without a holder is no lock.
lock_holder() {
    lock_file=$1
    [ -e "$lock_file" ] || return 0
    lock_inode=$(stat -c %i -- "$lock_file") || return 0
    while read -r _ _ _ lock_kind lock_pid lock_where _; do
        # A waiting process stands in a line with an arrow, which moves the fields: it holds nothing.
        [ "$lock_kind" = WRITE ] || [ "$lock_kind" = READ ] || continue
        [ "${lock_where##*:}" = "$lock_inode" ] || continue
        [ -d "/proc/$lock_pid" ] || continue
        for lock_fd in "/proc/$lock_pid/fd"/*; do
            [ "$(readlink "$lock_fd" 2>/dev/null)" = "$lock_file" ] || continue
            printf '%s (pid %s)' "$(cat "/proc/$lock_pid/comm" 2>/dev/null)" "$lock_pid"
            return 0
        done
    done </proc/locks
    return 0
}

# Prints `name (pid N)` of the living process whose number stands in FILE.
pid_holder() {
    [ -r "$1" ] || return 0
    lock_pid=
    read -r lock_pid <"$1" || :
    case $lock_pid in '' | *[!0-9]*) return 0 ;; esac
    [ -d "/proc/$lock_pid" ] || return 0
    printf '%s (pid %s)' "$(cat "/proc/$lock_pid/comm" 2>/dev/null)" "$lock_pid"
}

# Waits until nobody holds the lock any more; says who is waited for. $1: whose lock, then FILES.
lock_wait() {
    lock_whose=$1
    shift
    lock_said='' lock_left=$LOCK_WAIT
    while :; do
        lock_who=
        for lock_name in "$@"; do
            case $lock_name in
                *.pid) lock_who=$(pid_holder "$lock_name") ;;
                *) lock_who=$(lock_holder "$lock_name") ;;
            esac
            [ -z "$lock_who" ] || break
        done
        [ -n "$lock_who" ] || return 0
        if [ "$lock_left" -le 0 ]; then
            fail "the $lock_whose lock is still held by $lock_who after $LOCK_WAIT s"
            return 1
        fi
        if [ "$lock_who" != "$lock_said" ]; then
            echo "waiting for $lock_whose lock held by $lock_who" >&2
            lock_said=$lock_who
        fi
        sleep 1
        lock_left=$((lock_left - 1))
    done
}

# apt-get that asks nothing: debconf's defaults, conffiles kept, needrestart lists only.
apt_get() {
    DEBIAN_FRONTEND=noninteractive DEBIAN_PRIORITY=critical APT_LISTCHANGES_FRONTEND=none APT_LISTBUGS_FRONTEND=none \
        UCF_FORCE_CONFFOLD=1 NEEDRESTART_MODE=l NEEDRESTART_UI=NeedRestart::UI::stdio \
        apt-get -q -y -o Dpkg::Use-Pty=0 -o "DPkg::Lock::Timeout=$LOCK_WAIT" \
        -o Dpkg::Options::=--force-confdef -o Dpkg::Options::=--force-confold "$@"
}

apt_wait() {
    lock_wait dpkg /var/lib/dpkg/lock-frontend /var/lib/dpkg/lock /var/cache/apt/archives/lock
}

# Fetches the package lists; those of one source only where FILE is not empty. Speaks only where it fails.
apt_lists() {
    lock_wait 'apt lists' /var/lib/apt/lists/lock
    if [ -n "$1" ]; then
        apt_said=$(apt_get update -o Dir::Etc::sourcelist="$1" -o Dir::Etc::sourceparts=- -o APT::Get::List-Cleanup=0 \
            -o APT::Update::Error-Mode=any 2>&1)
    else
        # The folder's own time tells the next run that the lists are newer than the sources.
        apt_said=$(apt_get update 2>&1) && touch /var/lib/apt/lists
    fi || {
        printf '%s\n' "$apt_said" | grep '^[EW]:' >&2 || :
        return 1
    }
}

# True where the lists are missing, or older than a source, or do not know one of the packages (NAME or NAME=VERSION).
apt_lists_stale() {
    set -- "$@" -
    for apt_list in /var/lib/apt/lists/*_Packages*; do
        [ -e "$apt_list" ] || return 0
        break
    done
    [ -z "$(find /etc/apt/sources.list /etc/apt/sources.list.d -newer /var/lib/apt/lists 2>/dev/null)" ] || return 0
    while [ "$1" != - ]; do
        case $1 in
            *=*) apt-cache madison -- "${1%%=*}" | grep -F -q -- "$(apt_fixed "${1#*=}")" || return 0 ;;
            *) [ -n "$(apt-cache showpkg -- "$1" 2>/dev/null)" ] || return 0 ;;
        esac
        shift
    done
    return 1
}

# The fixed part of a version before its first star.
apt_fixed() {
    printf %s "${1%%\**}"
}

# Finishes what an interrupted dpkg left half done.
apt_repair() {
    apt_wait
    DEBIAN_FRONTEND=noninteractive DEBIAN_PRIORITY=critical NEEDRESTART_MODE=l \
        dpkg --force-confdef --force-confold --configure -a
    apt_get -f install
}

# package_change TOOL install|remove ALLOW SPEC…: one transaction. A SPEC is NAME or NAME=VERSION.
# ALLOW: `-`, or words joined by commas: removals, downgrades, held, repair.
package_change() {
    package_tool=$1 package_verb=$2 package_allow=$3
    shift 3
    case ",$package_allow," in *,repair,*) [ "$package_tool" != apt ] || apt_repair ;; esac
    "${package_tool}_change" "$@"
}

package_allows() {
    case ",$package_allow," in *",$1,"*) return 0 ;; esac
    return 1
}

apt_change() {
    apt_wait
    if [ "$package_verb" = install ] && apt_lists_stale "$@"; then
        apt_lists '' || echo 'the package lists could not all be fetched; going on with what is there' >&2
        apt_wait
    fi
    apt_options=
    ! package_allows held || apt_options="$apt_options --allow-change-held-packages"
    # A version that is asked for may be an older one: only the packages named here may go back.
    apt_options="$apt_options --allow-downgrades"
    # shellcheck disable=SC2086
    if ! apt_sim=$(apt_get -s $apt_options "$package_verb" -- "$@" 2>&1); then
        printf '%s\n' "$apt_sim" | grep -v '^NOTE:\|^      ' >&2
        return 1
    fi
    apt_refuse "$@"
    apt_held=$(apt-mark showhold)
    apt_run "$@" || {
        # Lists that are older than the mirror name files that are gone.
        case $package_verb$apt_said in
            *"E: Failed to fetch"* | *"E: Unable to fetch"*)
                apt_lists ''
                apt_run "$@" || apt_words
                ;;
            *) apt_words ;;
        esac
    }
    # shellcheck disable=SC2086
    [ -z "$apt_held" ] || apt-mark hold $apt_held >/dev/null 2>&1 || :
    # What a person has to look after: kept conffiles, services that wait for a restart.
    printf '%s\n' "$apt_said" | grep '==> Keeping\|^Configuration file \|[Rr]estarts being deferred\|^ *systemctl restart ' || :
}

# Runs the transaction; what apt said is in apt_said.
apt_run() {
    # shellcheck disable=SC2086
    apt_said=$(apt_get $apt_options "$package_verb" -- "$@" 2>&1)
}

# Fails with the last words of apt.
apt_words() {
    printf '%s\n' "$apt_said" | tail -n 40 >&2
    return 1
}

# Stops where the simulated run would remove or downgrade packages that nobody named.
apt_refuse() {
    apt_bad=
    apt_ifs=$IFS
    IFS=$lib_newline
    set -f
    for apt_line in $apt_sim; do
        case $apt_line in
            'Remv '*)
                apt_name=${apt_line#Remv } apt_name=${apt_name%% *}
                if [ "$package_verb" = remove ] && apt_named "$apt_name" "$@"; then continue; fi
                package_allows removals || apt_bad="$apt_bad${apt_bad:+, }remove $apt_name"
                ;;
            'Inst '*' ['*'] ('*)
                apt_name=${apt_line#Inst } apt_name=${apt_name%% *}
                apt_old=${apt_line#*\[} apt_old=${apt_old%%\]*}
                apt_new=${apt_line#*\(} apt_new=${apt_new%% *}
                dpkg --compare-versions "$apt_new" lt "$apt_old" || continue
                if apt_named "$apt_name" "$@" || package_allows downgrades; then continue; fi
                apt_bad="$apt_bad${apt_bad:+, }downgrade $apt_name from $apt_old to $apt_new"
                ;;
        esac
    done
    set +f
    IFS=$apt_ifs
    [ -z "$apt_bad" ] || fail "refused: apt would $apt_bad"
}

# True where NAME is one of the SPECS.
apt_named() {
    apt_look=$1
    shift
    for apt_spec in "$@"; do
        apt_spec=${apt_spec%%=*}
        [ "$apt_look" != "$apt_spec" ] && [ "$apt_look" != "${apt_spec%%:*}" ] || return 0
    done
    return 1
}

dnf_wait() {
    lock_wait dnf /var/cache/dnf/metadata_lock.pid /var/cache/dnf/download_lock.pid /var/lib/dnf/rpmdb_lock.pid \
        /run/dnf/rpmdb_lock.pid /var/run/yum.pid /var/lib/rpm/.rpm.lock /usr/lib/sysimage/rpm/.rpm.lock
}

dnf_tool() {
    if command -v dnf >/dev/null 2>&1; then
        echo dnf
    elif command -v yum >/dev/null 2>&1; then
        echo yum
    else
        fail 'needs dnf or yum'
    fi
}

dnf_change() {
    dnf_tool=$(dnf_tool)
    dnf_wait
    if [ "$package_verb" = remove ]; then
        if ! package_allows removals && ! dnf_words=$(rpm -e --test --allmatches -- "$@" 2>&1); then
            fail "refused: other packages need them$lib_newline$dnf_words"
            return 1
        fi
        "$dnf_tool" -q -y --setopt=clean_requirements_on_remove=False remove -- "$@"
        return
    fi
    # dnf writes NAME-VERSION where the others write NAME=VERSION.
    dnf_count=$#
    while [ "$dnf_count" -gt 0 ]; do
        case $1 in
            *=*) set -- "$@" "${1%%=*}-${1#*=}" ;;
            *) set -- "$@" "$1" ;;
        esac
        shift
        dnf_count=$((dnf_count - 1))
    done
    dnf_said=$("$dnf_tool" -q -y install -- "$@" 2>&1) || {
        printf '%s\n' "$dnf_said" >&2
        return 1
    }
    # dnf calls it a success when a package's own script fails.
    case $dnf_said in
        *'Error in '*' scriptlet in rpm package'*)
            printf '%s\n' "$dnf_said" >&2
            return 1
            ;;
    esac
    printf '%s\n' "$dnf_said" | grep '\.rpmnew\|\.rpmsave' || :
}

apk_change() {
    lock_wait apk /lib/apk/db/lock
    if [ "$package_verb" = remove ]; then
        apk -q --wait "$LOCK_WAIT" del -- "$@"
        return
    fi
    for apk_index in /var/cache/apk/APKINDEX.* /var/lib/apk/APKINDEX.*; do
        [ ! -e "$apk_index" ] || break
    done
    [ -e "$apk_index" ] || apk -q --wait "$LOCK_WAIT" update
    apk -q --wait "$LOCK_WAIT" add -- "$@" || {
        # A name that an old index does not know.
        apk -q --wait "$LOCK_WAIT" update
        apk -q --wait "$LOCK_WAIT" add -- "$@"
    }
}

# repository_keep FILE…: whatever happens before repository_done, these files become what they are now: a repository
# whose lists cannot be fetched is not there, and the next run tries again.
repository_keep() {
    repository_count=0
    for repository_file in "$@"; do
        repository_count=$((repository_count + 1))
        repository_old=
        [ ! -e "$repository_file" ] || repository_old=$(cat -- "$repository_file" && printf .)
        eval "repository_path_$repository_count=\$repository_file repository_old_$repository_count=\$repository_old"
    done
    trap repository_back EXIT
    trap 'exit 1' HUP INT TERM
}

repository_back() {
    while [ "$repository_count" -gt 0 ]; do
        eval "repository_file=\$repository_path_$repository_count repository_old=\$repository_old_$repository_count"
        repository_count=$((repository_count - 1))
        if [ -z "$repository_old" ]; then
            rm -f -- "$repository_file"
        else
            printf %s "${repository_old%.}" >"$repository_file.suil-new"
            chmod 0644 "$repository_file.suil-new"
            mv -f -- "$repository_file.suil-new" "$repository_file"
        fi
    done
}

repository_done() {
    trap - EXIT
}

# repository_lists apt|dnf FILE NAME: fetches the package lists of one repository.
repository_lists() {
    case $1 in
        apt)
            # Waited for here, where the words are seen at once.
            lock_wait 'apt lists' /var/lib/apt/lists/lock
            repository_said=$(apt_lists "$2" 2>&1)
            ;;
        dnf)
            dnf_wait
            repository_said=$("$(dnf_tool)" -q -y makecache "--disablerepo=*" "--enablerepo=$3" 2>&1)
            ;;
    esac || fail "the lists of repository $3 cannot be fetched:$lib_newline$repository_said"
}

# service_change UNIT VERB…: reload-units, unmask, mask, enable, disable, stop, start, start-anew, restart, reload,
# try-restart, try-reload. `start-anew` restarts what somebody else started meanwhile: it may run on old files.
service_change() {
    service_unit=$1
    shift
    for service_verb in "$@"; do
        case $service_verb in
            reload-units)
                systemctl daemon-reload
                continue
                ;;
            start-anew)
                service_verb=start
                ! systemctl is-active -q -- "$service_unit" || service_verb=restart
                ;;
            reload) service_verb=reload-or-restart ;;
            try-reload) service_verb=try-reload-or-restart ;;
        esac
        case $service_verb in
            start | *restart)
                [ "$(systemctl show -p NeedDaemonReload -- "$service_unit")" != NeedDaemonReload=yes ] || systemctl daemon-reload
                # A unit that failed often enough is refused until it is forgotten.
                systemctl reset-failed -- "$service_unit" 2>/dev/null || :
                ;;
        esac
        service_say=$(systemctl "$service_verb" -- "$service_unit" 2>&1) || {
            service_failed "$service_verb" "$service_say"
            return 1
        }
        case $service_verb in start | restart) service_up "$service_verb" ;; esac
    done
}

# systemd calls a simple service started before it has run a single line: looked at again a moment later.
service_up() {
    case $(systemctl show -p Type -- "$service_unit") in Type=simple | Type=idle | Type=exec) sleep 0.3 ;; esac
    service_state=$(systemctl show -p ActiveState -p SubState -- "$service_unit")
    case $service_state in
        *ActiveState=failed* | *SubState=auto-restart*) service_failed "$1" "$service_state" ;;
    esac
}

service_failed() {
    printf '%s\n' "systemctl $1 $service_unit failed: $2" >&2
    systemctl status --no-pager -l -n 0 -- "$service_unit" >&2 || :
    journalctl --no-pager -q -n 20 -o cat -u "$service_unit" >&2 2>/dev/null || :
    return 1
}

# Sets field NUMBER of the line of NAME in a colon file, where no tool does it (busybox).
colon_set() {
    awk -F: -v OFS=: -v name="$2" -v field="$3" -v value="$4" '$1 == name { $field = value } { print }' "$1" >"$1.suil-new"
    colon_over "$1"
}

# Puts FILE.suil-new in the place of FILE, with its owner and mode.
colon_over() {
    chmod "$(stat -c %a -- "$1")" "$1.suil-new"
    chown "$(stat -c %u:%g -- "$1")" "$1.suil-new"
    mv -f "$1.suil-new" "$1"
}

local_user() {
    awk -F: -v name="$1" '$1 == name { found = 1 } END { exit !found }' /etc/passwd
}

local_group() {
    awk -F: -v name="$1" '$1 == name { found = 1 } END { exit !found }' /etc/group
}

# user_set NAME [KEY=VALUE…]: makes the user, or changes what is there. Keys: uid, group, groups (joined by commas), only_groups=yes,
# comment, home, shell, system=yes, create_home=yes|no.
user_set() {
    user_name=$1
    shift
    user_uid='' user_group='' user_groups='' user_only=no user_comment='' user_home='' user_shell='' user_system=no user_create=yes
    user_has=' '
    for user_pair in "$@"; do
        user_has="$user_has${user_pair%%=*} "
        case $user_pair in
            uid=*) user_uid=${user_pair#*=} ;;
            group=*) user_group=${user_pair#*=} ;;
            groups=*) user_groups=${user_pair#*=} ;;
            only_groups=*) user_only=${user_pair#*=} ;;
            comment=*) user_comment=${user_pair#*=} ;;
            home=*) user_home=${user_pair#*=} ;;
            shell=*) user_shell=${user_pair#*=} ;;
            system=*) user_system=${user_pair#*=} ;;
            create_home=*) user_create=${user_pair#*=} ;;
        esac
    done
    if command -v useradd >/dev/null 2>&1; then
        user_set_shadow
    else
        user_set_plain
    fi
}

user_set_shadow() {
    set --
    [ -z "$user_uid" ] || set -- "$@" -u "$user_uid"
    [ -z "$user_shell" ] || set -- "$@" -s "$user_shell"
    case $user_has in *' comment '*) set -- "$@" -c "$user_comment" ;; esac
    if local_user "$user_name"; then
        [ -z "$user_group" ] || set -- "$@" -g "$user_group"
        [ -z "$user_home" ] || set -- "$@" -d "$user_home"
        case $user_has in
            *' groups '*) if [ "$user_only" = yes ]; then set -- "$@" -G "$user_groups"; elif [ -n "$user_groups" ]; then set -- "$@" -a -G "$user_groups"; fi ;;
        esac
        [ $# -eq 0 ] || usermod "$@" -- "$user_name"
        return
    fi
    if [ -n "$user_group" ]; then
        set -- "$@" -g "$user_group"
    elif local_group "$user_name"; then
        set -- "$@" -g "$user_name"
    fi
    [ -z "$user_home" ] || set -- "$@" -d "$user_home"
    [ -z "$user_groups" ] || set -- "$@" -G "$user_groups"
    [ "$user_system" = no ] || set -- "$@" -r
    if [ "$user_create" = yes ]; then set -- "$@" -m; else set -- "$@" -M; fi
    useradd "$@" -- "$user_name"
}

# Where there are no tools for accounts, or only busybox's, which cannot change a user: the files themselves.
user_set_plain() {
    if ! local_user "$user_name"; then
        [ -n "$user_uid" ] || user_uid=$(free_number /etc/passwd "$user_system")
        if [ -z "$user_group" ]; then
            local_group "$user_name" || group_set "$user_name" '' "$user_system"
            user_group=$user_name
        fi
        : "${user_home:=/home/$user_name}" "${user_shell:=/bin/sh}"
        user_gid=$(group_number "$user_group")
        [ -n "$user_gid" ] || fail "there is no group $user_group" || return 1
        [ ! -e /etc/shadow ] || colon_add /etc/shadow "$user_name:!:$(($(date +%s) / 86400)):0:99999:7:::"
        colon_add /etc/passwd "$user_name:x:$user_uid:$user_gid:$user_comment:$user_home:$user_shell"
        if [ "$user_create" = yes ] && [ ! -e "$user_home" ]; then
            mkdir -p -- "$user_home"
            [ ! -d /etc/skel ] || cp -R /etc/skel/. "$user_home"
            chown -R "$user_uid:$user_gid" "$user_home"
        fi
    else
        [ -z "$user_uid" ] || colon_set /etc/passwd "$user_name" 3 "$user_uid"
        if [ -n "$user_group" ]; then
            user_gid=$(group_number "$user_group")
            [ -n "$user_gid" ] || fail "there is no group $user_group" || return 1
            colon_set /etc/passwd "$user_name" 4 "$user_gid"
        fi
        case $user_has in *' comment '*) colon_set /etc/passwd "$user_name" 5 "$user_comment" ;; esac
        [ -z "$user_home" ] || colon_set /etc/passwd "$user_name" 6 "$user_home"
        [ -z "$user_shell" ] || colon_set /etc/passwd "$user_name" 7 "$user_shell"
    fi
    case $user_has in *' groups '*) ;; *) return 0 ;; esac
    user_ifs=$IFS
    IFS=,
    for user_word in $user_groups; do
        local_group "$user_word" || fail "there is no group $user_word" || return 1
    done
    IFS=$user_ifs
    awk -F: -v OFS=: -v name="$user_name" -v groups="$user_groups" -v only="$user_only" '
        function without(list,    n, i, part, out) {
            n = split(list, part, ",")
            out = ""
            for (i = 1; i <= n; i++) if (part[i] != name) out = out (out == "" ? "" : ",") part[i]
            return out
        }
        {
            has = index("," $4 ",", "," name ",")
            want = index("," groups ",", "," $1 ",")
            if (want && !has) $4 = $4 ($4 == "" ? "" : ",") name
            if (!want && has && only == "yes") $4 = without($4)
            print
        }' /etc/group >/etc/group.suil-new
    colon_over /etc/group
}

# The first number that no line of FILE has: from 1000 upwards, or from 999 downwards for the system.
free_number() {
    awk -F: -v reserved="$2" '
        { taken[$3] = 1 }
        END {
            if (reserved == "yes") { n = 999; step = -1 } else { n = 1000; step = 1 }
            while (n in taken) n += step
            print n
        }' "$1"
}

# Adds LINE to FILE.
colon_add() {
    { cat -- "$1" && printf '%s\n' "$2"; } >"$1.suil-new"
    colon_over "$1"
}

group_number() {
    awk -F: -v name="$1" '$1 == name { print $3; exit }' /etc/group
}

# user_password FILE: sets the password hash from FILE, which holds NAME:HASH. No argument list ever holds a hash.
user_password() {
    if command -v chpasswd >/dev/null 2>&1; then
        chpasswd -e <"$1"
        return
    fi
    awk -F: -v OFS=: 'NR == FNR { name = $1; hash = substr($0, length(name) + 2); next } $1 == name { $2 = hash } { print }' \
        "$1" /etc/shadow >/etc/shadow.suil-new
    colon_over /etc/shadow
}

# user_remove NAME HOME: with its home folder where HOME is yes.
user_remove() {
    local_user "$1" || return 0
    if command -v userdel >/dev/null 2>&1; then
        if [ "$2" = yes ]; then userdel -r -- "$1"; else userdel -- "$1"; fi
        return
    fi
    user_home=$(awk -F: -v name="$1" '$1 == name { print $6 }' /etc/passwd)
    awk -F: -v OFS=: -v name="$1" '{
        n = split($4, part, ",")
        $4 = ""
        for (i = 1; i <= n; i++) if (part[i] != name) $4 = $4 ($4 == "" ? "" : ",") part[i]
        print
    }' /etc/group >/etc/group.suil-new
    colon_over /etc/group
    colon_drop /etc/passwd "$1"
    [ ! -e /etc/shadow ] || colon_drop /etc/shadow "$1"
    case $user_home in /?*) [ "$2" != yes ] || rm -rf -- "$user_home" ;; esac
}

# Takes the line of NAME out of FILE.
colon_drop() {
    awk -F: -v name="$2" '$1 != name' "$1" >"$1.suil-new"
    colon_over "$1"
}

# group_set NAME GID SYSTEM [MEMBERS]: GID may be empty; MEMBERS, joined by commas, replace those that are there.
group_set() {
    if ! local_group "$1"; then
        if command -v groupadd >/dev/null 2>&1; then
            group_options=
            [ -z "$2" ] || group_options="-g $2"
            [ "$3" = no ] || group_options="$group_options -r"
            # shellcheck disable=SC2086
            groupadd $group_options -- "$1"
        else
            group_gid=$2
            [ -n "$group_gid" ] || group_gid=$(free_number /etc/group "$3")
            colon_add /etc/group "$1:x:$group_gid:"
            [ ! -e /etc/gshadow ] || colon_add /etc/gshadow "$1:!::"
        fi
    elif [ -n "$2" ] && [ "$(group_number "$1")" != "$2" ]; then
        if command -v groupmod >/dev/null 2>&1; then
            groupmod -g "$2" -- "$1"
        else
            colon_set /etc/group "$1" 3 "$2"
        fi
    fi
    [ $# -ge 4 ] || return 0
    if command -v gpasswd >/dev/null 2>&1; then
        gpasswd -M "$4" "$1" >/dev/null
    else
        colon_set /etc/group "$1" 4 "$4"
    fi
}

group_remove() {
    local_group "$1" || return 0
    if command -v groupdel >/dev/null 2>&1; then
        groupdel -- "$1"
    else
        colon_drop /etc/group "$1"
        [ ! -e /etc/gshadow ] || colon_drop /etc/gshadow "$1"
    fi
}

# sysctl_save FILE KEY [VALUE]: the one line of KEY in FILE; without a VALUE there is none.
sysctl_save() {
    sysctl_file=$1 sysctl_key=$2
    sysctl_old=/dev/null
    if [ -e "$sysctl_file" ]; then sysctl_old=$sysctl_file; elif [ $# -lt 3 ]; then return 0; fi
    mkdir -p -- "${sysctl_file%/*}"
    awk -v key="$sysctl_key" '{
        line = $0
        sub(/^[ \t]*-?[ \t]*/, "", line)
        name = line
        sub(/[ \t]*=.*/, "", name)
        slashes = name
        if (index(name, "/") && (!index(name, ".") || index(name, "/") < index(name, "."))) {
            slashes = ""
            for (i = 1; i <= length(name); i++) {
                c = substr(name, i, 1)
                slashes = slashes (c == "/" ? "." : c == "." ? "/" : c)
            }
        }
        if (index(line, "=") && slashes == key) next
        print
    }' "$sysctl_old" >"$sysctl_file.suil-new"
    [ $# -lt 3 ] || printf '%s = %s\n' "$sysctl_key" "$3" >>"$sysctl_file.suil-new"
    if [ -e "$sysctl_file" ]; then
        colon_over "$sysctl_file"
    else
        chmod 0644 "$sysctl_file.suil-new"
        mv -f "$sysctl_file.suil-new" "$sysctl_file"
    fi
    [ -s "$sysctl_file" ] || rm -f -- "$sysctl_file"
}

# sysctl_now PROC VALUE: the value in the running kernel.
sysctl_now() {
    [ -e "$1" ] || fail "the kernel has no $1" || return 1
    sysctl_say=$({ printf '%s\n' "$2" >"$1"; } 2>&1) || fail "the kernel refuses $2 for $1: ${sysctl_say##*: }"
}

# hostname_set NAME
hostname_set() {
    if command -v hostnamectl >/dev/null 2>&1 && [ -d /run/systemd/system ] && hostnamectl set-hostname "$1" 2>/dev/null; then
        return 0
    fi
    printf '%s\n' "$1" >/etc/hostname.suil-new
    chmod 0644 /etc/hostname.suil-new
    mv -f /etc/hostname.suil-new /etc/hostname
    hostname "$1"
}

# timezone_set ZONE
timezone_set() {
    [ -f "/usr/share/zoneinfo/$1" ] || fail "there is no /usr/share/zoneinfo/$1: it comes with the package tzdata" || return 1
    ln -s "/usr/share/zoneinfo/$1" /etc/localtime.suil-new 2>/dev/null || ln -sf "/usr/share/zoneinfo/$1" /etc/localtime.suil-new
    mv -f /etc/localtime.suil-new /etc/localtime
    [ ! -e /etc/timezone ] || printf '%s\n' "$1" >/etc/timezone
}

# kernel_module_load NAME now|later
kernel_module_load() {
    mkdir -p /etc/modules-load.d
    printf '%s\n' "$1" >"/etc/modules-load.d/$1.conf.suil-new"
    mv -f "/etc/modules-load.d/$1.conf.suil-new" "/etc/modules-load.d/$1.conf"
    [ "$2" = later ] || modprobe "$1"
}

# kernel_module_unload NAME now|later
kernel_module_unload() {
    rm -f "/etc/modules-load.d/$1.conf"
    [ "$2" = later ] || [ ! -d "/sys/module/$(printf %s "$1" | tr - _)" ] || modprobe -r "$1"
}

# mount_save PATH WORD [LINE]: the one line of /etc/fstab that mounts on PATH, which fstab writes as WORD; without a LINE there is none.
mount_save() {
    [ -e /etc/fstab ] || : >/etc/fstab
    # Backslashes stay what they are only by way of the environment.
    MOUNT_WORD=$2 awk '/^[ \t]*#/ || $2 != ENVIRON["MOUNT_WORD"]' /etc/fstab >/etc/fstab.suil-new
    [ $# -lt 3 ] || printf '%s\n' "$3" >>/etc/fstab.suil-new
    colon_over /etc/fstab
    [ ! -d /run/systemd/system ] || systemctl daemon-reload
    [ $# -lt 3 ] || [ -e "$1" ] || mkdir -p -- "$1"
}

# mount_now PATH: mounts it as /etc/fstab says, or tells the present mount its options.
mount_now() {
    if mountpoint -q "$1"; then mount -o remount "$1"; else mount "$1"; fi
}

# mount_remove PATH WORD
mount_remove() {
    ! mountpoint -q "$1" || umount "$1"
    mount_save "$1" "$2"
}

# locale_set NAME FILE: generates the locale where the node does that itself, and makes it the system's.
locale_set() {
    locale_plain=$(printf %s "$1" | tr -d - | tr '[:upper:]' '[:lower:]')
    if ! locale -a 2>/dev/null | tr -d - | tr '[:upper:]' '[:lower:]' | grep -qxF -e "$locale_plain"; then
        need locale-gen || fail "the node knows no locale $1: on Debian it is made by the package locales, elsewhere it comes with a glibc-langpack"
        locale_charset=${1#*.}
        [ "$locale_charset" != "$1" ] || locale_charset=ISO-8859-1
        locale_line="$1 ${locale_charset%%@*}"
        if [ -e /usr/share/i18n/SUPPORTED ] && ! grep -qxF -e "$locale_line" /usr/share/i18n/SUPPORTED; then
            fail "the node knows no locale $1: /usr/share/i18n/SUPPORTED lists those that it can make"
        fi
        grep -qxF -e "$locale_line" /etc/locale.gen 2>/dev/null || printf '%s\n' "$locale_line" >>/etc/locale.gen
        locale-gen >/dev/null
    fi
    [ -e "$2" ] || : >"$2"
    { grep -v '^LANG=' -- "$2" || :; } >"$2.suil-new"
    printf 'LANG=%s\n' "$1" >>"$2.suil-new"
    colon_over "$2"
}
