/* A disk that loses every write that was not synced: an LD_PRELOAD shim for tests of durability.
 *
 * The processes under test work on a real folder, LOSSY_ROOT. Beside it the shim keeps LOSSY_SHADOW, the
 * image that a power cut at this instant would leave. All that POSIX lets a disk lose is lost:
 *
 *   content  of a file is durable once the file is synced: fsync, fdatasync, or a write through a descriptor
 *            opened with O_SYNC or O_DSYNC. A file that was never synced is empty.
 *   names    (create, delete, rename, mkdir) are durable once the folder they are in is synced, not before.
 *            Syncing a new file does not save its name, though ext4 and others happen to do so; and a deleted
 *            -wal or -journal file comes back with its last synced content, a hot journal if it was one.
 *            A folder's content is its list of names, so a new folder needs its parent synced as well.
 *
 * This is the harsher legal choice towards a program that acknowledges work: nothing counts until somebody
 * asked for it. A real disk may also write early and in any order; that is not explored here. Where threads
 * race, a write made just after a sync may be copied with it: that is such an early write.
 *
 * Layout of the shadow (lossy.py makes the first image and reads the last):
 *   disk/DEV-INO.GEN   what is durable of one inode: a file's bytes, or a folder's entries, each f or d,
 *                      DEV-INO.GEN, a slash, the name, NUL. Replaced by rename, so never half written.
 *   inode/DEV-INO      a symlink whose text is GEN, as a file system uses numbers again after a delete
 *   next               the copy being made
 * The shadow folder itself carries the lock: flock on a fresh descriptor holds between threads and between
 * processes, is let go by a kill, and, being unlocked by hand, does not stay with a child forked meanwhile.
 *
 * Not covered, as neither SQLite nor Python's file calls need it: msync, syncfs, sync_file_range, RWF_DSYNC,
 * O_TMPFILE, raw system calls, remove(3), symlinks and special files below the root. SQLite's -shm files are
 * left out: they are memory, not storage. Deletes made by processes without the shim go unseen. */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#define REAL(name) ({ \
    static __typeof__(name) *found; \
    if (!found) found = (__typeof__(name) *)dlsym(RTLD_NEXT, #name); \
    found; })

static char root[PATH_MAX], shadow[PATH_MAX];
static size_t root_length; /* 0: nothing is watched */

/* A shadow that cannot be kept would make the test lie, so stop everything. */
static void must(int ok, const char *what) {
    if (ok) return;
    dprintf(2, "lossy: %s: %s\n", what, strerror(errno));
    abort();
}

__attribute__((constructor)) static void start(void) {
    const char *watched = getenv("LOSSY_ROOT"), *image = getenv("LOSSY_SHADOW");
    if (!watched || !image) return;
    must(realpath(watched, root) && realpath(image, shadow), "LOSSY_ROOT and LOSSY_SHADOW must exist");
    root_length = strlen(root);
}

/* Takes the lock; the answer is also the descriptor that all paths of the shadow start from. */
static int begin(void) {
    int image = open(shadow, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    must(image >= 0, shadow);
    while (flock(image, LOCK_EX) != 0) must(errno == EINTR, "lock");
    return image;
}

static void end(int image) {
    flock(image, LOCK_UN);
    close(image);
}

struct id {
    char inode[64], disk[80]; /* paths: the record of its generation, and its durable content */
    unsigned long generation;
};

static struct id identify(int image, const struct stat *st) {
    struct id id = {.generation = 0};
    char text[24] = "";
    uintmax_t device = st->st_dev, number = st->st_ino;
    snprintf(id.inode, sizeof id.inode, "inode/%jx-%jx", device, number);
    must(readlinkat(image, id.inode, text, sizeof text - 1) > 0 || errno == ENOENT, id.inode);
    id.generation = strtoul(text, NULL, 10);
    snprintf(id.disk, sizeof id.disk, "disk/%jx-%jx.%lu", device, number, id.generation);
    return id;
}

/* The inode's last name is gone: its durable content stays where it is, and a later file with its number
 * starts another generation. (What is synced after this, by a descriptor still open, is dropped.) */
static void forget(int image, const struct stat *st) {
    if (!S_ISDIR(st->st_mode) && st->st_nlink > 1) return;
    struct id id = identify(image, st);
    if (faccessat(image, id.disk, F_OK, 0) != 0) return; /* never seen below the root */
    char next[24];
    snprintf(next, sizeof next, "%lu", id.generation + 1);
    REAL(unlinkat)(image, "next", 0);
    must(symlinkat(next, image, "next") == 0, "new generation");
    must(REAL(renameat)(image, "next", image, id.inode) == 0, id.inode);
}

static void copy_file(int fd, int to) {
    /* Closing a second descriptor of a file that SQLite holds would drop the process's POSIX locks on it, so
     * read through the one given. SQLite's are readable; only write-only ones take the detour. */
    int from = fd;
    if ((fcntl(fd, F_GETFL) & O_ACCMODE) == O_WRONLY) {
        char path[32];
        snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
        from = open(path, O_RDONLY | O_CLOEXEC);
        must(from >= 0, path);
    }
    off_t at = 0; /* both calls leave the descriptor's own position alone */
    for (ssize_t n = 1; n > 0;) {
        n = copy_file_range(from, &at, to, NULL, 1 << 30, 0);
        if (n <= 0) n = sendfile(to, from, &at, 1 << 30); /* not within one file system, or at the end */
        must(n >= 0 || errno == EINTR, "copy");
        if (n < 0) n = 1;
    }
    if (from != fd) close(from);
}

static void copy_folder(int image, int fd, int to) {
    int again = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *folder = again < 0 ? NULL : fdopendir(again);
    must(folder != NULL, "open folder");
    for (struct dirent *entry; (entry = readdir(folder));) {
        const char *name = entry->d_name;
        size_t length = strlen(name);
        struct stat st;
        if (!strcmp(name, ".") || !strcmp(name, "..")) continue;
        if (length > 4 && !strcmp(name + length - 4, "-shm")) continue;
        if (fstatat(again, name, &st, AT_SYMLINK_NOFOLLOW) != 0) continue; /* deleted just now */
        if (!S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode)) continue;
        struct id id = identify(image, &st);
        int seen = openat(image, id.disk, O_WRONLY | O_CREAT | O_CLOEXEC, 0600); /* so that forget knows it */
        must(seen >= 0, id.disk);
        close(seen);
        char kind = S_ISDIR(st.st_mode) ? 'd' : 'f';
        must(dprintf(to, "%c%s/%s%c", kind, id.disk + strlen("disk/"), name, 0) > 0, "list folder");
    }
    closedir(folder);
}

/* What fd holds now is durable. */
static void synced(int fd) {
    char link[32], path[PATH_MAX];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t n = readlink(link, path, sizeof path - 1);
    if (n < (ssize_t)root_length || memcmp(path, root, root_length) != 0) return;
    path[n] = 0;
    if (path[root_length] != '/' && path[root_length] != 0) return;
    struct stat st;
    int image = begin();
    if (fstat(fd, &st) == 0 && st.st_nlink > 0 && (S_ISREG(st.st_mode) || S_ISDIR(st.st_mode))) {
        struct id id = identify(image, &st);
        REAL(unlinkat)(image, "next", 0);
        int to = openat(image, "next", O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
        must(to >= 0, "next");
        if (S_ISDIR(st.st_mode)) copy_folder(image, fd, to);
        else copy_file(fd, to);
        must(close(to) == 0 && REAL(renameat)(image, "next", image, id.disk) == 0, id.disk);
    }
    end(image);
}

static int after_sync(int fd, int result) {
    int kept = errno;
    if (result == 0 && root_length) synced(fd);
    errno = kept;
    return result;
}

static ssize_t after_write(int fd, ssize_t result) {
    int kept = errno;
    if (result > 0 && root_length && (fcntl(fd, F_GETFL) & O_DSYNC)) synced(fd); /* O_SYNC has this bit too */
    errno = kept;
    return result;
}

int fsync(int fd) { return after_sync(fd, REAL(fsync)(fd)); }
int fdatasync(int fd) { return after_sync(fd, REAL(fdatasync)(fd)); }

ssize_t write(int fd, const void *from, size_t n) { return after_write(fd, REAL(write)(fd, from, n)); }
ssize_t pwrite(int fd, const void *from, size_t n, off_t at) {
    return after_write(fd, REAL(pwrite)(fd, from, n, at));
}
ssize_t pwrite64(int fd, const void *from, size_t n, off64_t at) {
    return after_write(fd, REAL(pwrite64)(fd, from, n, at));
}
ssize_t writev(int fd, const struct iovec *from, int n) { return after_write(fd, REAL(writev)(fd, from, n)); }
ssize_t pwritev(int fd, const struct iovec *from, int n, off_t at) {
    return after_write(fd, REAL(pwritev)(fd, from, n, at));
}
ssize_t pwritev64(int fd, const struct iovec *from, int n, off64_t at) {
    return after_write(fd, REAL(pwritev64)(fd, from, n, at));
}

/* Deletes and renames change nothing durable; they are watched only for the inode numbers they set free. */
int unlinkat(int folder, const char *path, int flags) {
    if (!root_length) return REAL(unlinkat)(folder, path, flags);
    struct stat st;
    int image = begin(), known = fstatat(folder, path, &st, AT_SYMLINK_NOFOLLOW) == 0;
    int result = REAL(unlinkat)(folder, path, flags), kept = errno;
    if (result == 0 && known) forget(image, &st);
    end(image);
    errno = kept;
    return result;
}
int unlink(const char *path) { return unlinkat(AT_FDCWD, path, 0); }
int rmdir(const char *path) { return unlinkat(AT_FDCWD, path, AT_REMOVEDIR); }

int renameat2(int from, const char *old, int to, const char *new, unsigned flags) {
    if (!root_length) return REAL(renameat2)(from, old, to, new, flags);
    struct stat moved, victim;
    int image = begin(), replaces = !(flags & RENAME_EXCHANGE)
        && fstatat(from, old, &moved, AT_SYMLINK_NOFOLLOW) == 0
        && fstatat(to, new, &victim, AT_SYMLINK_NOFOLLOW) == 0
        && (moved.st_dev != victim.st_dev || moved.st_ino != victim.st_ino);
    int result = REAL(renameat2)(from, old, to, new, flags), kept = errno;
    if (result == 0 && replaces) forget(image, &victim);
    end(image);
    errno = kept;
    return result;
}
int renameat(int from, const char *old, int to, const char *new) { return renameat2(from, old, to, new, 0); }
int rename(const char *old, const char *new) { return renameat2(AT_FDCWD, old, AT_FDCWD, new, 0); }
